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

  Result call(const std::string& structure, const Handles& arguments, const std::function<Traced()>& trace) {
    HostValues in = host_values(arguments);
    std::string key = structure;
    for (const Type& t : types_of(arguments)) key += ';' + to_string(t);
    const std::shared_ptr<Entry> e = entry(key);
    if (!e->ready) {
      const std::lock_guard lock(e->mutex);
      if (!e->ready) prepare(*e, trace());
    }
    {
      const std::lock_guard lock(mutex_);
      latest_ = e;
    }
    in.insert(in.end(), e->captured.begin(), e->captured.end());
    return {handles_of(e->program->run(in)), e->structure};
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
  void prepare(Entry& e, const Traced& t) const {
    e.graph = simplified(t.frame->graph);
    e.captured = host_values(t.frame->captured);
    e.structure = t.structure;
    e.program.emplace(options_.device.empty() ? default_device() : options_.device, e.graph, compile_options(options_));
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

JitCache::Result JitCache::call(const std::string& structure, const Handles& arguments,
                                const std::function<Traced()>& trace) {
  return impl_->call(structure, arguments, trace);
}
std::size_t JitCache::signatures() const { return impl_->entries().size(); }
DispatchReport JitCache::report() const { return impl_->latest()->program->report(); }
std::vector<DispatchReport> JitCache::reports() const {
  std::vector<DispatchReport> out;
  for (const auto& e : impl_->entries()) out.push_back(e->program->report());
  return out;
}
Graph JitCache::graph() const { return impl_->latest()->graph; }

}  // namespace rlx::detail
