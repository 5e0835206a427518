// A compiled program and its calls: memory, steps in their order, and what is watched meanwhile.
#include "runtime/block.hpp"
#include "runtime/compiled_graph.hpp"
#include "runtime/index_checks.hpp"
#include "runtime/narrow.hpp"
#include "runtime/numerics.hpp"
#include "runtime/steps.hpp"
#include "runtime/trace.hpp"

#include <rlx/ir/evaluate.hpp>
#include <rlx/ir/located.hpp>
#include <rlx/ir/memory.hpp>
#include <rlx/ir/sizes.hpp>
#include <rlx/ops/attributes.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace rlx::runtime {

namespace {

// The arrays of a host value in the order of a program's inputs and outputs.
std::vector<const HostTensor*> arrays(const HostValue& v) {
  if (const auto* t = std::get_if<HostTensor>(&v)) return {t};
  if (const auto* s = std::get_if<HostSparse>(&v)) return {&s->offsets, &s->indices, &s->values};
  return {};
}

class OneProgram final : public CompiledGraph {
 public:
  OneProgram(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog, const CompileOptions& options,
             const RowNames& names)
      : device_(std::move(device)),
        records_(records_of(*device_, catalog)),
        program_(compiled(hir, catalog, options, names)),
        steps_(prepare(program_, catalog.operators, device_->target(), records_)),
        module_(device_->target().interprets ? nullptr : device_->compile(program_.lir)),
        registry_(catalog.operators),
        output_types_(hir.types_of(hir.outputs())),
        inputs_(hir),
        checked_(options.checked),
        numerics_(options.check_numerics),
        watched_(watched_sizes(program_.mir)),
        name_(std::make_shared<const std::string>(hir.name)) {
    for (const HostTensor& t : steps_.constants) {
      constants_.emplace_back(*device_, meter_, t.bytes());
      device_->upload(constants_.back().allocation(), 0, t.data(), t.bytes());
    }
    for (const Call& c : steps_.calls) workspace_bytes_ = std::max(workspace_bytes_, c.workspace_bytes);
    // Arena and workspace are one allocation.
    if (const std::int64_t most = device_->target().max_slab_bytes; workspace_bytes_ > most - steps_.arena_bytes)
      throw MemoryError("the program's arena with the workspace of its calls",
                        static_cast<std::uint64_t>(steps_.arena_bytes) + static_cast<std::uint64_t>(workspace_bytes_),
                        static_cast<std::uint64_t>(most));
  }

  HostValues run(std::span<const HostValue> arguments, HostValues reuse) override {
    inputs_.check(arguments);
    ++calls_;
    if (numerics_) check_numbers(arguments, inputs_.names, "argument", Numbers::infinite);
    if (device_->target().interprets) {
      HostValues out = interpret(arguments);
      if (numerics_) check_numbers(out, program_.mir.output_names, "output", Numbers::finite);
      return out;
    }
    check_room();
    HostValues out;
    {
      Run call(*this, arguments, std::move(reuse));
      try {
        call.steps(steps_.steps);
      } catch (const NumericalError&) {
        call.refuse_watched();  // What led to it is named better.
        throw;
      }
      out = call.results();
    }
    if (trace_) trace_->write_if_due();
    return out;
  }

  const DispatchReport& report() const override { return program_.report; }
  const Graph& lir() const override { return program_.lir; }
  std::int64_t bytes_per_call() const override { return steps_.arena_bytes + steps_.output_bytes + workspace_bytes_; }
  void trim() override {
    const std::lock_guard lock(mutex_);
    arenas_.clear();
  }
  ExecutableStatistics statistics() const override { return {calls_, meter_.peak()}; }

 private:
  Program compiled(const Graph& hir, const Catalog& catalog, const CompileOptions& options, const RowNames& names) {
    Program p = compile_program(hir, catalog.operators, device_->target(), records_, options);
    names.put(p.report);
    return p;
  }

  // Refuses what is worse than `allowed`. An infinite argument may be meant (a mask), NaN is not.
  static void check_numbers(std::span<const HostValue> values, const std::vector<std::string>& names,
                            std::string_view what, Numbers allowed) {
    for (std::size_t i = 0; i < values.size(); ++i)
      for (const HostTensor* t : arrays(values[i]))
        if (const Worst w = worst_of(*t); w.numbers > allowed)
          throw NonFiniteError(std::string(what),
                               std::string(what) + " \"" + names[i] + "\" holds " +
                                   (w.numbers == Numbers::nan ? "NaN" : "an infinity") + " at element " +
                                   std::to_string(w.index),
                               {});
  }

  HostValues interpret(std::span<const HostValue> arguments) const {
    if (!checked_) return evaluate(program_.mir, registry_, arguments);
    return evaluate(program_.mir, registry_, arguments, [&](const Node& n, auto operands, auto results) {
      if (const CheckReport c = check_indices(n, operands, results); !c.what.empty()) refuse(c);
    });
  }

  // Operators by what check_within says of their sizes.
  static std::map<std::string, std::string> watched_sizes(const Graph& mir) {
    std::map<std::string, std::string> out;
    for (std::size_t i = 0; i < mir.node_count(); ++i)
      if (const auto* a = mir.node(static_cast<NodeId>(i)).attrs.get_if<ops::CheckWithinAttrs>(); a && !a->of.empty())
        out.emplace(a->what, a->of);
    return out;
  }

  [[noreturn]] void refuse(const CheckReport& c) const {
    if (const auto it = watched_.find(c.what); it != watched_.end()) throw size_error(it->second, c.what, c.index);
    throw ArgumentError(c.what + " " + std::to_string(c.index) + " is out of range in program \"" + program_.lir.name +
                        "\"");
  }

  // What a call has to allocate; an arena that an earlier call left is there already.
  void check_room() {
    std::int64_t wanted = steps_.output_bytes;
    {
      const std::lock_guard lock(mutex_);
      if (arenas_.empty()) wanted += steps_.arena_bytes + workspace_bytes_;
    }
    require_memory("a call of program \"" + program_.lir.name + "\"", static_cast<std::uint64_t>(wanted));
  }

  Block take_arena() {
    const std::lock_guard lock(mutex_);
    if (arenas_.empty()) return Block(*device_, meter_, steps_.arena_bytes + workspace_bytes_);
    Block b = std::move(arenas_.back());
    arenas_.pop_back();
    return b;
  }
  void give_arena(Block b) noexcept try {
    const std::lock_guard lock(mutex_);
    arenas_.push_back(std::move(b));
  } catch (...) {  // No room to keep it: it is released, and the next call takes another.
  }

  // One call: its memory and its resources.
  class Run {
   public:
    Run(OneProgram& e, std::span<const HostValue> arguments, HostValues reuse)
        : e_(e), resources_(e.steps_.resource_slots), arena_(e.take_arena()) {
      bind_inputs(arguments);
      make_outputs(std::move(reuse));
      for (const Place& p : e.steps_.places) bound_.push_back(bind(p));
      if (e.checked_ || !e.watched_.empty()) checks_ = e.module_->check_record();
      if (e.numerics_) find_infinite_inputs();
    }
    ~Run() {
      e_.meter_.add(-output_bytes_);
      e_.give_arena(std::move(arena_));
    }

    void steps(const std::vector<Step>& list) {
      for (const Step& s : list) step(s);
    }

    /// Throws what the checks of kernels that were waited for found.
    void refuse_watched() {
      if (!checks_) return;
      e_.device_->synchronize();
      if (const CheckReport c = checks_->take(); !c.what.empty()) e_.refuse(c);
    }

    HostValues results() {
      e_.device_->synchronize();
      refuse_watched();
      if (!e_.device_->host_addressable())
        for (std::size_t i = 0; i < outputs_.size(); ++i)
          e_.device_->download(outputs_[i].mutable_data(), device_outputs_[i].allocation(), 0, outputs_[i].bytes());
      HostValues out;
      std::size_t next = 0;
      for (const Type& t : e_.output_types_) out.push_back(take(t, next));
      Bindings sizes;
      for (const SizeResult& s : e_.program_.sizes) sizes[s.symbol] = output(next).get_i64(0);
      if (!sizes.empty())
        for (std::size_t i = 0; i < out.size(); ++i) narrow(out[i], e_.output_types_[i], sizes);
      return out;
    }

   private:
    void bind_inputs(std::span<const HostValue> arguments) {
      std::size_t input = 0;
      for (const HostValue& v : arguments) {
        if (const auto* r = std::get_if<HostResource>(&v)) {
          resources_[static_cast<std::size_t>(e_.steps_.input_slots[input++])] = {r->type, r->data};
          inputs_.push_back({});
          continue;
        }
        for (const HostTensor* t : arrays(v)) {
          ++input;
          if (e_.device_->host_addressable()) {
            inputs_.push_back(
                {const_cast<std::byte*>(t->data()), t->bytes()});  // Programs never write to their inputs.
            continue;
          }
          device_inputs_.emplace_back(*e_.device_, e_.meter_, t->bytes());
          e_.device_->upload(device_inputs_.back().allocation(), 0, t->data(), t->bytes());
          inputs_.push_back(device_inputs_.back().allocation());
        }
      }
    }

    void make_outputs(HostValues reuse) {
      std::map<std::size_t, HostTensor> given;  // By output, whose order is that of the program's buffers.
      for (std::size_t i = 0; i < reuse.size() && i < e_.output_types_.size() &&
                              e_.steps_.output_places.size() == e_.output_types_.size() + e_.program_.sizes.size();
           ++i)
        if (auto* t = std::get_if<HostTensor>(&reuse[i]); t && e_.steps_.output_places[i] >= 0)
          given[place(e_.steps_.output_places[i]).index] = std::move(*t);
      for (const Place& p : e_.steps_.places) {
        if (p.kind != Place::Kind::output || p.index != outputs_.size()) continue;
        const auto it = given.find(p.index);
        if (it != given.end() && it->second.dtype() == p.type.dtype &&
            it->second.shape() == constant_shape(p.type.shape))
          outputs_.push_back(std::move(it->second));
        else outputs_.emplace_back(p.type.dtype, constant_shape(p.type.shape));
        output_bytes_ += outputs_.back().bytes();
        if (!e_.device_->host_addressable())
          device_outputs_.emplace_back(*e_.device_, e_.meter_, outputs_.back().bytes());
      }
      e_.meter_.add(output_bytes_);
      for (std::size_t i = 0; i < outputs_.size(); ++i)
        output_allocations_.push_back(e_.device_->host_addressable()
                                          ? Allocation{outputs_[i].mutable_data(), outputs_[i].bytes()}
                                          : device_outputs_[i].allocation());
    }

    KernelBuffer bind(const Place& p) const {
      switch (p.kind) {
        case Place::Kind::input:
          return {&inputs_[p.index], p.offset};
        case Place::Kind::arena:
          return {&arena_.allocation(), p.offset};
        case Place::Kind::constant:
          return {&e_.constants_[p.index].allocation(), p.offset};
        case Place::Kind::output:
          return {&output_allocations_[p.index], p.offset};
        case Place::Kind::none:
          return {};
      }
      throw InternalError("a buffer without place");
    }

    KernelBuffer at(int place) const { return bound_[static_cast<std::size_t>(place)]; }
    const Place& place(int i) const { return e_.steps_.places[static_cast<std::size_t>(i)]; }

    void step(const Step& s) {
      const auto start = e_.trace_ ? Trace::Clock::now() : Trace::Clock::time_point{};
      execute(s);
      if (e_.trace_) {
        e_.device_->synchronize();  // What a queue only takes note of took no time yet.
        e_.trace_->record(s.info, e_.name_, start, Trace::Clock::now());
      }
      if (e_.numerics_) check_stored(s);
    }

    HostTensor contents(int p) const {
      const TensorType& t = place(p).type;
      HostTensor x(t.dtype, constant_shape(t.shape));
      e_.device_->download(x.mutable_data(), *at(p).allocation, at(p).byte_offset, x.bytes());
      return x;
    }
    Numbers& held(int p) { return numbers_[static_cast<std::size_t>(place(p).memory)]; }

    // Infinities that are given are not the program's doing; constants that hold them are in its text.
    void find_infinite_inputs() {
      numbers_.assign(e_.steps_.places.size(), Numbers::finite);
      for (std::size_t p = 0; p < numbers_.size(); ++p)
        if (const auto kind = e_.steps_.places[p].kind; kind == Place::Kind::input || kind == Place::Kind::constant)
          held(static_cast<int>(p)) = worst_of(contents(static_cast<int>(p))).numbers;
    }

    // The first step that stores something worse than all it was given is where the trouble starts.
    void check_stored(const Step& s) {
      Numbers given = s.info->has_infinity ? Numbers::infinite : Numbers::finite;
      for (int p : s.reads) given = std::max(given, held(p));
      for (int p : s.writes) {
        const Worst w = worst_of(contents(p));
        if (w.numbers > given) throw non_finite(*s.info, place(p).type, w);
        held(p) = w.numbers;
      }
    }

    NonFiniteError non_finite(const StepInfo& s, TensorType t, const Worst& w) const {
      t.space = Space::value;
      const std::string node = s.op.empty() ? s.name : s.op + (s.node.empty() ? "" : " " + s.node);
      return NonFiniteError(s.op.empty() ? s.name : s.op,
                            node + ": step " + s.name + " stores " +
                                (w.numbers == Numbers::nan ? "NaN" : "an infinity") + " at element " +
                                std::to_string(w.index) + " of " + to_string(Type(t)) + " in program \"" + *e_.name_ +
                                "\"" + (s.location.file.empty() ? "" : "  " + s.location.to_string()),
                            {s.location.file, s.location.line, s.node});
    }

    void execute(const Step& s) {
      switch (s.kind) {
        case Step::Kind::kernel:
          e_.module_->launch(s.index, buffers(s), checks_.get());
          break;
        case Step::Kind::copy:
          e_.device_->copy(*at(s.places[1]).allocation, at(s.places[1]).byte_offset, *at(s.places[0]).allocation,
                           at(s.places[0]).byte_offset, place(s.places[0]).bytes);
          break;
        case Step::Kind::call:
          call(e_.steps_.calls[s.index], s.second, s.first);
          break;
        case Step::Kind::loop:
          loop(s);
          break;
        case Step::Kind::branch:
          steps(truth(s.places[0]) ? s.first : s.second);
          break;
      }
    }

    void loop(const Step& s) {
      std::int64_t trips = 0;
      for (steps(s.first); truth(s.condition); steps(s.first)) {
        if (trips++ == s.max_trips)
          throw NumericalError(
              "while", "while: the condition still holds after max_trips = " + std::to_string(s.max_trips) + " trips",
              s.max_trips, -1);
        steps(s.second);
      }
    }

    bool truth(int p) const {
      std::uint8_t byte = 0;
      e_.device_->download(&byte, *at(p).allocation, at(p).byte_offset, 1);
      return byte != 0;
    }

    BufferView view(int p) const {
      const KernelBuffer b = at(p);
      if (!b.allocation) return {nullptr, place(p).type};
      auto* base = static_cast<std::byte*>(b.allocation->handle);
      return {e_.device_->host_addressable() ? base + b.byte_offset : base, place(p).type, b.byte_offset};
    }

    std::vector<KernelBuffer> buffers(const Step& s) const {
      std::vector<KernelBuffer> out;
      out.reserve(s.places.size());
      for (int p : s.places) out.push_back(at(p));
      return out;
    }

    void call(const Call& c, const std::vector<Step>& before, const std::vector<Step>& after) {
      std::vector<BufferView> in, out;
      for (int p : c.in_places) in.push_back(view(p));
      for (int p : c.out_places) out.push_back(view(p));
      std::vector<ResourceValue> used, made;
      for (int r : c.resource_slots) used.push_back(resources_[static_cast<std::size_t>(r)]);
      const Instance instance{
          c.op, &c.attrs, {c.operand_types, {}, nullptr}, c.result_types, &e_.device_->target(), !before.empty()};
      BufferView workspace;
      workspace.type = tensor(DType::u8, {c.workspace_bytes});
      workspace.data = static_cast<std::byte*>(arena_.allocation().handle) +
                       (e_.device_->host_addressable() ? e_.steps_.arena_bytes : 0);
      workspace.byte_offset = e_.steps_.arena_bytes;
      // A record runs in the order of the queue, so what was enqueued before it must be done where the host runs it.
      e_.device_->synchronize();
      Epilogue epilogue;
      if (!after.empty()) {
        const std::int64_t row = out[0].type.shape.back().constant();
        epilogue = [this, row, index = after[0].index, places = buffers(after[0])](std::int64_t begin,
                                                                                   std::int64_t end) {
          e_.module_->launch_rows(index, places, begin / row, end / row);
        };
      }
      std::vector<Prologue> prologues(before.empty() ? 0 : in.size());
      for (std::size_t i = 0; i < prologues.size(); ++i)
        if (c.prologues[i] >= 0) {
          const Step& s = before[static_cast<std::size_t>(c.prologues[i])];
          std::vector<KernelBuffer> read = buffers(s);
          read.pop_back();
          prologues[i] = [this, index = s.index, read = std::move(read)](std::int64_t begin, std::int64_t end,
                                                                         void* base) {
            e_.module_->launch_piece(index, read, begin, end, base);
          };
        }
      std::get<Launch>(c.record->action.value)(
          {instance, in, used, out, &made, workspace, after.empty() ? nullptr : &epilogue, prologues});
      if (made.size() != c.made_slots.size())
        throw InternalError(std::string(c.record->name.value) + " made " + std::to_string(made.size()) + " resources");
      for (std::size_t i = 0; i < made.size(); ++i)
        resources_[static_cast<std::size_t>(c.made_slots[i])] = std::move(made[i]);
    }

    // A result stands in a buffer of the greatest size: its elements come first along each dimension.
    static void narrow(HostValue& v, const Type& declared, const Bindings& sizes) {
      const auto* t = std::get_if<TensorType>(&declared);
      if (!t || is_constant(declared)) return;
      v = leading(std::get<HostTensor>(v), constant_shape(substitute(t->shape, sizes)));
    }

    HostTensor output(std::size_t& next) { return std::move(outputs_[place(e_.steps_.output_places[next++]).index]); }

    HostValue take(const Type& t, std::size_t& next) {
      if (std::holds_alternative<TensorType>(t)) return output(next);
      if (const auto* s = std::get_if<SparseType>(&t)) {
        HostSparse out{*s, output(next), {}, {}};
        out.indices = output(next);
        out.values = output(next);
        return out;
      }
      if (std::holds_alternative<TokenType>(t)) return HostToken{};
      const ResourceValue& r = resources_[static_cast<std::size_t>(-1 - e_.steps_.output_places[next++])];
      return HostResource{r.type, r.data};
    }

    OneProgram& e_;
    std::vector<ResourceValue> resources_;
    Block arena_;
    std::vector<Allocation> inputs_, output_allocations_;
    std::vector<Block> device_inputs_, device_outputs_;
    std::vector<HostTensor> outputs_;
    std::vector<KernelBuffer> bound_;
    std::unique_ptr<CheckRecord> checks_;  // In checked mode, and where sizes are watched.
    std::vector<Numbers> numbers_;         // By place, while numbers are checked.
    std::int64_t output_bytes_ = 0;
  };

  std::shared_ptr<Device> device_;
  Meter meter_;
  std::atomic<std::int64_t> calls_{0};
  std::vector<KernelRecord> records_;  // Steps point into it.
  Program program_;
  Steps steps_;
  std::unique_ptr<Module> module_;
  const Registry& registry_;
  Types output_types_;
  Inputs inputs_;
  bool checked_, numerics_;
  std::map<std::string, std::string> watched_;
  std::shared_ptr<const std::string> name_;
  Trace* const trace_ = Trace::of_process();
  std::vector<Block> constants_;
  std::int64_t workspace_bytes_ = 0;
  std::mutex mutex_;
  std::vector<Block> arenas_;
};

}  // namespace

std::unique_ptr<CompiledGraph> one_program(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog,
                                           const CompileOptions& options, const RowNames& names) {
  return std::make_unique<OneProgram>(std::move(device), hir, catalog, options, names);
}

}  // namespace rlx::runtime
