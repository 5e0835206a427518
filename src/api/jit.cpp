#include <rlx/jit.hpp>

#include "api/program.hpp"
#include "api/trace.hpp"
#include "runtime/kept.hpp"

#include <mutex>

namespace rlx::detail {

namespace {

CompileOptions compile_options(const JitOptions& o) {
  CompileOptions c;
  c.preference = o.policy;
  c.per_operator = o.per_operator;
  c.reproducible = o.reproducible;
  c.checked = o.checked;
  c.exact_sizes = o.exact_sizes;
  c.recognise = o.recognise;
  return options_from_environment(std::move(c));
}

}  // namespace

class JitCache::Impl {
 public:
  /// One signature.
  struct Entry {
    HostValues captured;
    std::vector<std::size_t> donates;  // Arguments.
    Structure structure;
    Graph graph;
    CompiledProgram program;
  };
  using EntryPointer = std::shared_ptr<const Entry>;

  explicit Impl(JitOptions options) : options_(std::move(options)), entries_(options_.kept_signatures) {
    if (options_.kept_signatures == 0) throw ArgumentError("JitOptions::kept_signatures is 0, expected at least 1");
  }

  Result call(Arguments a, const std::function<Traced(const Types&)>& trace,
              const std::function<void(const Handles&)>& put) {
    HostValues in = host_values(a.leaves);
    const Types types = types_of(a.leaves);
    std::string key = a.structure;
    for (std::size_t i = 0; i < types.size(); ++i) key += (a.donated[i] ? "!" : ";") + to_string(types[i]);
    const EntryPointer e = entries_.get(key, [&] { return prepared(trace(types), a.donated); });
    {
      const std::lock_guard lock(mutex_);
      latest_ = e;
    }
    in.insert(in.end(), e->captured.begin(), e->captured.end());
    if (e->donates.empty()) return {handles_of(e->program.run(in)), e->structure};
    const std::string function = "jit" + (a.where.empty() ? "" : " (" + a.where + ")");
    for (std::size_t i : e->donates)
      a.leaves[i] = Handle(Donated{"argument \"" + e->graph.input_names[i] + "\" of " + function});
    put(a.leaves);
    try {
      return {handles_of(e->program.run_donating(in)), e->structure};
    } catch (...) {  // What no step has written over is the caller's again.
      for (std::size_t i : e->donates)
        if (!std::holds_alternative<HostToken>(in[i])) a.leaves[i] = Handle(std::move(in[i]));
      put(a.leaves);
      throw;
    }
  }

  std::size_t signatures() const { return entries_.size(); }
  std::vector<DispatchReport> reports() const {
    std::vector<DispatchReport> out;
    entries_.view([&](const auto& entries) {
      for (const EntryPointer& e : entries) out.push_back(e->program.report());
    });
    return out;
  }
  EntryPointer latest() const {
    const std::lock_guard lock(mutex_);
    if (!latest_) throw ArgumentError("a jit function has no report before its first call");
    return latest_;
  }

 private:
  EntryPointer prepared(const Traced& t, const std::vector<bool>& donated) const {
    CompileOptions options = compile_options(options_);
    for (std::size_t i = 0; i < donated.size(); ++i)
      if (donated[i]) options.donated.push_back(i);
    Graph g = simplified(t.frame->graph);
    CompiledProgram program(options_.device.empty() ? default_device() : options_.device, g, options);
    return std::make_shared<const Entry>(
        Entry{host_values(t.frame->captured), options.donated, t.structure, std::move(g), std::move(program)});
  }

  const JitOptions options_;
  runtime::Kept<std::string, const Entry> entries_;
  mutable std::mutex mutex_;
  EntryPointer latest_;
};

JitCache::JitCache(JitOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
JitCache::~JitCache() = default;

JitCache::Result JitCache::call(Arguments arguments, const std::function<Traced(const Types&)>& trace,
                                const std::function<void(const Handles&)>& put) {
  return impl_->call(std::move(arguments), trace, put);
}
std::size_t JitCache::signatures() const { return impl_->signatures(); }
DispatchReport JitCache::report() const { return impl_->latest()->program.report(); }
std::vector<DispatchReport> JitCache::reports() const { return impl_->reports(); }
runtime::ExecutableStatistics JitCache::statistics() const { return impl_->latest()->program.statistics(); }
Graph JitCache::graph() const { return impl_->latest()->graph; }

}  // namespace rlx::detail
