#include <rlx/jit.hpp>

#include "api/program.hpp"
#include "api/trace.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace rlx::detail {

namespace {

/// One signature. Its own mutex is held while it is compiled, so that other signatures go on meanwhile.
struct Entry {
  std::mutex mutex;
  std::atomic<bool> ready = false;
  std::optional<CompiledProgram> program;
  HostValues captured;
  std::vector<std::size_t> donates;  // Arguments.
  JitCache::Structure structure;
  Graph graph;
};

CompileOptions compile_options(const JitOptions& o) {
  CompileOptions c;
  c.preference = o.policy;
  c.per_operator = o.per_operator;
  c.reproducible = o.reproducible;
  c.checked = o.checked;
  c.exact_sizes = o.exact_sizes;
  return options_from_environment(std::move(c));
}

}  // namespace

class JitCache::Impl {
 public:
  explicit Impl(JitOptions options) : options_(std::move(options)) {}

  Result call(Arguments a, const std::function<Traced(const Types&)>& trace,
              const std::function<void(const Handles&)>& put) {
    HostValues in = host_values(a.leaves);
    const Types types = types_of(a.leaves);
    std::string key = a.structure;
    for (std::size_t i = 0; i < types.size(); ++i) key += (a.donated[i] ? "!" : ";") + to_string(types[i]);
    const std::shared_ptr<Entry> e = entry(key);
    if (!e->ready) {
      const std::lock_guard lock(e->mutex);
      if (!e->ready) prepare(*e, trace(types), a.donated);
    }
    {
      const std::lock_guard lock(mutex_);
      latest_ = e;
    }
    in.insert(in.end(), e->captured.begin(), e->captured.end());
    if (e->donates.empty()) return {handles_of(e->program->run(in)), e->structure};
    const std::string function = "jit" + (a.where.empty() ? "" : " (" + a.where + ")");
    for (std::size_t i : e->donates)
      a.leaves[i] = Handle(Donated{"argument \"" + e->graph.input_names[i] + "\" of " + function});
    put(a.leaves);
    try {
      return {handles_of(e->program->run_donating(in)), e->structure};
    } catch (...) {  // What no step has written over is the caller's again.
      for (std::size_t i : e->donates)
        if (!std::holds_alternative<HostToken>(in[i])) a.leaves[i] = Handle(std::move(in[i]));
      put(a.leaves);
      throw;
    }
  }

  std::vector<std::shared_ptr<Entry>> entries() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Entry>> out;
    for (const auto& e : order_)
      if (e->ready) out.push_back(e);
    return out;
  }
  std::shared_ptr<Entry> latest() const {
    const std::lock_guard lock(mutex_);
    if (!latest_) throw ArgumentError("a jit function has no report before its first call");
    return latest_;
  }

 private:
  std::shared_ptr<Entry> entry(const std::string& key) {
    const std::lock_guard lock(mutex_);
    auto& e = entries_[key];
    if (!e) {
      e = std::make_shared<Entry>();
      order_.push_back(e);
    }
    return e;
  }
  // What throws leaves the entry as it was: the next call tries again.
  void prepare(Entry& e, const Traced& t, const std::vector<bool>& donated) const {
    e.donates.clear();
    for (std::size_t i = 0; i < donated.size(); ++i)
      if (donated[i]) e.donates.push_back(i);
    e.graph = simplified(t.frame->graph);
    e.captured = host_values(t.frame->captured);
    e.structure = t.structure;
    CompileOptions options = compile_options(options_);
    options.donated = e.donates;
    e.program.emplace(options_.device.empty() ? default_device() : options_.device, e.graph, options);
    e.ready = true;
  }

  const JitOptions options_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries_;
  std::vector<std::shared_ptr<Entry>> order_;
  std::shared_ptr<Entry> latest_;
};

JitCache::JitCache(JitOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
JitCache::~JitCache() = default;

JitCache::Result JitCache::call(Arguments arguments, const std::function<Traced(const Types&)>& trace,
                                const std::function<void(const Handles&)>& put) {
  return impl_->call(std::move(arguments), trace, put);
}
std::size_t JitCache::signatures() const { return impl_->entries().size(); }
DispatchReport JitCache::report() const { return impl_->latest()->program->report(); }
std::vector<DispatchReport> JitCache::reports() const {
  std::vector<DispatchReport> out;
  for (const auto& e : impl_->entries()) out.push_back(e->program->report());
  return out;
}
runtime::ExecutableStatistics JitCache::statistics() const { return impl_->latest()->program->statistics(); }
Graph JitCache::graph() const { return impl_->latest()->graph; }

}  // namespace rlx::detail
