#include "api/conformance/device_run.hpp"

#include "api/conformance/resources.hpp"

#include <rlx/runtime/executable.hpp>

#include <algorithm>

namespace rlx::conformance {

namespace {

using Indices = std::vector<std::size_t>;

class Batch {
 public:
  Batch(std::span<const Instance* const> instances, const std::shared_ptr<runtime::Device>& device,
        const runtime::Catalog& catalog, const CompileOptions& options)
      : instances_(instances), device_(device), catalog_(catalog), options_(options), runs_(instances.size()) {}

  void run(const Indices& which) {
    if (which.empty()) return;
    try {
      attempt(which);
    } catch (const CompileError& e) { run(without_refused(which, e)); } catch (const std::exception& e) {
      if (which.size() == 1) {
        runs_[which[0]].reason = text_of(e);
        return;
      }
      const auto middle = which.begin() + static_cast<std::ptrdiff_t>(which.size() / 2);
      run(Indices(which.begin(), middle));
      run(Indices(middle, which.end()));
    }
  }

  std::vector<DeviceRun> take() { return std::move(runs_); }

 private:
  // The nodes of one instance after those of the other, so that the rows of those that stand in no region follow them.
  Graph combined(const Indices& which) const {
    Graph g("conformance");
    Builder b(g, catalog_.operators);
    for (std::size_t k : which) {
      const Instance& i = *instances_[k];
      const std::string prefix = "s" + std::to_string(i.index) + "_";
      const Values out = emit_sample(b, *i.op, i.sample, prefix).outputs;
      for (std::size_t r = 0; r < out.size(); ++r) b.output(out[r], prefix + "y" + std::to_string(r));
    }
    return g;
  }

  std::size_t nodes_of(std::size_t k) const { return instances_[k]->graph.region(Graph::top).nodes.size(); }
  /// Place of the operator's own node among those of its instance.
  std::size_t place_of(std::size_t k) const {
    const auto& nodes = instances_[k]->graph.region(Graph::top).nodes;
    return static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), instances_[k]->at) - nodes.begin());
  }

  void attempt(const Indices& which) {
    const runtime::Executable program(device_, combined(which), catalog_, options_);
    HostValues arguments;
    for (std::size_t k : which) arguments.insert(arguments.end(), instances_[k]->in.begin(), instances_[k]->in.end());
    HostValues results = program.run(arguments);
    const std::vector<const ReportRow*> rows = rows_of(program.report());
    auto next = results.begin();
    std::size_t first = 0;  // Row of the instance's first node.
    for (std::size_t k : which) {
      DeviceRun& run = runs_[k];
      run.outcome = Outcome::passed;
      if (const std::size_t row = first + place_of(k); row < rows.size()) run.provider = rows[row]->provider;
      first += nodes_of(k);
      for (std::size_t r = 0; r < instances_[k]->graph.outputs().size(); ++r) run.out.push_back(std::move(*next++));
    }
  }

  static std::vector<const ReportRow*> rows_of(const DispatchReport& report) {
    std::vector<const ReportRow*> rows;
    for (const ReportRow& r : report.rows)
      if (r.region.empty()) rows.push_back(&r);
    return rows;
  }

  // An instance is refused with whatever its regions hold that has no lowering.
  Indices without_refused(const Indices& which, const CompileError& e) {
    std::vector<std::string> reasons(which.size());
    std::vector<bool> refused(which.size());
    std::size_t row = 0, k = 0, end = nodes_of(which[0]);  // Rows before `end` are those of instance k.
    for (const ReportRow& r : e.report().rows) {
      if (r.region.empty() && row++ == end && ++k < which.size()) end += nodes_of(which[k]);
      if (row == 0 || k >= which.size() || r.path != Path::unresolved) continue;
      refused[k] = true;
      std::string& reason = reasons[k];
      for (const Refusal& f : r.refusals)
        reason +=
            (reason.empty() ? "" : "; ") + f.path + ": " + (r.region.empty() ? "" : "inside: " + r.op + ": ") + f.why;
    }
    Indices rest;
    for (std::size_t i = 0; i < which.size(); ++i) {
      if (!refused[i]) {
        rest.push_back(which[i]);
        continue;
      }
      runs_[which[i]].outcome = Outcome::refused;
      runs_[which[i]].reason = reasons[i];
    }
    // A refusal that names no node would never end.
    if (rest.size() == which.size()) throw InternalError(text_of(e));
    return rest;
  }

  std::span<const Instance* const> instances_;
  const std::shared_ptr<runtime::Device>& device_;
  const runtime::Catalog& catalog_;
  const CompileOptions& options_;
  std::vector<DeviceRun> runs_;
};

}  // namespace

std::vector<DeviceRun> run_on_device(std::span<const Instance* const> instances,
                                     const std::shared_ptr<runtime::Device>& device, const runtime::Catalog& catalog,
                                     const CompileOptions& options) {
  Batch batch(instances, device, catalog, options);
  Indices all(instances.size());
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = k;
  batch.run(all);
  return batch.take();
}

}  // namespace rlx::conformance
