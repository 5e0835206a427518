#include "runtime/split_program.hpp"

#include "compile/open_rows.hpp"

#include <rlx/ir/op.hpp>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

namespace rlx::runtime {
namespace {

using compile::SizePoint;

/// Puts what a part's report says into the rows of the whole graph. `counted` is the row of the size, which the head
/// only computes the count for.
void merge(DispatchReport& whole, const DispatchReport& part, const std::vector<int>& rows, int counted = -1) {
  for (std::size_t i = 0; i < part.rows.size() && i < rows.size(); ++i) {
    if (rows[i] < 0) continue;
    ReportRow& to = whole.rows.at(static_cast<std::size_t>(rows[i]));
    const ReportRow& from = part.rows[i];
    if (rows[i] != counted && to.lowering.empty()) {
      to.path = from.path;
      to.provider = from.provider;
      to.lowering = from.lowering;
      to.refusals = from.refusals;
      to.flops = from.flops;
      to.bytes = from.bytes;
    } else if (from.path == Path::unresolved) {
      to.path = from.path;
      to.refusals.insert(to.refusals.end(), from.refusals.begin(), from.refusals.end());
    }
    to.steps.insert(to.steps.end(), from.steps.begin(), from.steps.end());
    for (const std::string& n : from.notes) whole.add_note(rows[i], n);
  }
  whole.steps.insert(whole.steps.end(), part.steps.begin(), part.steps.end());
  whole.arena_bytes += part.arena_bytes;
}

class SplitProgram final : public CompiledGraph {
 public:
  SplitProgram(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog, const CompileOptions& options,
               const RowNames& names)
      : device_(std::move(device)), catalog_(catalog), options_(options), inputs_(hir) {
    Graph rows = hir;
    report_ = compile::open_rows(rows, device_->target(), options);
    names.put(report_);
    point_.emplace(compile::first_size_point(rows, catalog.operators, options));
    try {
      head_ = compiled_graph(device_, point_->head, catalog, options, names_of(point_->head_rows));
    } catch (const CompileError& e) { refuse(e, point_->head_rows); }
    merge(report_, head_->report(), point_->head_rows, point_->row);
    report_.steps.push_back({point_->symbol, "size point", "host", 0});
    try {
      merge(report_, planned(), point_->tail_rows);
    } catch (const CompileError& e) { refuse(e, point_->tail_rows); }
    // What holds for the planned size alone is not said.
    report_.arena_bytes = head_->report().arena_bytes;
    if (point_->row >= 0) {
      std::vector<std::string>& notes = report_.rows[static_cast<std::size_t>(point_->row)].notes;
      std::erase_if(notes, [&](const std::string& n) { return n.starts_with("size " + point_->symbol + ": at most"); });
    }
    report_.add_note(point_->row, "size point: host reads " + point_->symbol);
  }

  HostValues run(std::span<const HostValue> arguments, HostValues reuse) override {
    inputs_.check(arguments);
    ++calls_;
    HostValues of_head = head_->run(taken(point_->head_inputs, arguments, {}), {});
    const std::int64_t count = std::get<HostTensor>(of_head.back()).get_i64(0);
    const std::shared_ptr<CompiledGraph> tail = tail_for(count);
    return tail->run(taken(point_->tail_inputs, arguments, std::move(of_head)), std::move(reuse));
  }

  const DispatchReport& report() const override { return report_; }
  const Graph& lir() const override { return head_->lir(); }
  std::int64_t bytes_per_call() const override {
    const std::lock_guard lock(mutex_);
    return head_->bytes_per_call() + (latest_ ? latest_->bytes_per_call() : 0);
  }
  ExecutableStatistics statistics() const override {
    const std::lock_guard lock(mutex_);
    ExecutableStatistics s{calls_, 0};
    for (const auto& [capacity, tail] : tails_) s.peak_bytes = std::max(s.peak_bytes, tail->statistics().peak_bytes);
    s.peak_bytes += head_->statistics().peak_bytes;
    return s;
  }
  void trim() override {
    const std::lock_guard lock(mutex_);
    head_->trim();
    for (const auto& [capacity, tail] : tails_) tail->trim();
  }

 private:
  /// Sizes that the report is made for; the last is tried where a constraint needs more than the one before.
  static constexpr std::int64_t planned_sizes[] = {1 << 16, 1 << 24};

  [[noreturn]] void refuse(const CompileError& e, const std::vector<int>& rows) {
    for (std::size_t i = 0; i < report_.rows.size(); ++i)
      if (report_.rows[i].lowering.empty()) {
        report_.rows[i].path = Path::native;  // Not unresolved, which is all that a report can say of it.
        report_.add_note(static_cast<int>(i), "not looked at: another part of the program is refused");
      }
    for (const int r : rows)
      if (r >= 0) {
        report_.rows[static_cast<std::size_t>(r)].lowering.clear();
        report_.rows[static_cast<std::size_t>(r)].notes.clear();
      }
    merge(report_, e.report(), rows);
    throw CompileError(std::move(report_));
  }

  RowNames names_of(const std::vector<int>& rows) const {
    RowNames names;
    for (const int r : rows) {
      names.values.push_back(r < 0 ? "-" : report_.rows[static_cast<std::size_t>(r)].value);
      names.regions.push_back(r < 0 ? "" : report_.rows[static_cast<std::size_t>(r)].region);
    }
    return names;
  }

  /// What the tail becomes, before any count is known; nothing is generated for it.
  DispatchReport planned() const {
    for (const std::int64_t size : planned_sizes) {
      const Graph tail = sized(size);
      try {
        if (compile::has_size_point(tail, device_->target(), options_))
          return SplitProgram(device_, tail, catalog_, options_, names_of(point_->tail_rows)).report();
        return compile_program(tail, catalog_.operators, device_->target(), records_of(*device_, catalog_), options_)
            .report;
      } catch (const VerifyError&) {
        if (size == std::end(planned_sizes)[-1]) throw;
      } catch (const MemoryError&) {
        if (size == std::end(planned_sizes)[-1]) throw;
      }
    }
    throw InternalError("no size was planned");
  }

  Graph sized(std::int64_t size) const {
    return compile::reads_exactly(options_) ? specialise(point_->tail, catalog_.operators, {{point_->symbol, size}})
                                            : compile::bounded_tail(*point_, size);
  }

  static HostValues taken(const std::vector<SizePoint::Source>& sources, std::span<const HostValue> arguments,
                          HostValues of_head) {
    HostValues out;
    for (const SizePoint::Source& s : sources) {
      if (s.of_head) out.push_back(std::move(of_head[s.index]));
      else out.push_back(arguments[s.index]);
    }
    return out;
  }

  /// All tails are kept, the memory of one: a program that came by once must not hold what it needed then.
  std::shared_ptr<CompiledGraph> tail_for(std::int64_t count) {
    const std::int64_t size = compile::reads_exactly(options_) ? count : compile::rounded_capacity(count);
    const std::lock_guard lock(mutex_);
    auto it = tails_.find(size);
    if (it == tails_.end())  // Nothing is kept of one that does not compile.
      it = tails_.emplace(size, compiled_graph(device_, sized(size), catalog_, options_, names_of(point_->tail_rows)))
               .first;
    if (latest_ && latest_ != it->second) latest_->trim();
    return latest_ = it->second;
  }

  std::shared_ptr<Device> device_;
  const Catalog& catalog_;
  const CompileOptions options_;
  const Inputs inputs_;
  DispatchReport report_;
  std::optional<SizePoint> point_;
  std::unique_ptr<CompiledGraph> head_;
  std::atomic<std::int64_t> calls_{0};
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::shared_ptr<CompiledGraph>> tails_;
  std::shared_ptr<CompiledGraph> latest_;
};

}  // namespace

std::unique_ptr<CompiledGraph> split_program(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog,
                                             const CompileOptions& options, const RowNames& names) {
  return std::make_unique<SplitProgram>(std::move(device), hir, catalog, options, names);
}

}  // namespace rlx::runtime
