#include "runtime/steps.hpp"

#include "runtime/number_watch.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ir/text_reader.hpp>

#include <algorithm>
#include <utility>

namespace rlx::runtime {
namespace {

class Preparer {
 public:
  Preparer(const Program& p, const Registry& r, const Target& t, std::span<const KernelRecord> records)
      : g_(p.lir), report_(p.report), registry_(r), target_(t), records_(records) {
    out_.arena_bytes = p.arena_bytes;
  }

  Steps run() {
    for (std::size_t i = 0; i < g_.inputs().size(); ++i) {
      const ValueId v = g_.inputs()[i];
      if (std::holds_alternative<ResourceType>(g_.type(v))) {
        out_.input_slots.push_back(slot(v));
        continue;
      }
      out_.input_slots.push_back(-1);
      add_place(v, {Place::Kind::input, i});
    }
    out_.steps = region(Graph::top);
    for (ValueId v : g_.outputs()) {
      if (std::holds_alternative<ResourceType>(g_.type(v))) out_.output_places.push_back(-1 - slots_.at(v));
      else out_.output_places.push_back(places_.at(v));
    }
    return std::move(out_);
  }

 private:
  void add_place(ValueId v, Place p) {
    p.type = g_.tensor_type(v);
    p.bytes = byte_size(p.type.dtype, p.type.numel().constant());
    if (p.kind == Place::Kind::output) out_.output_bytes += p.bytes;
    places_[v] = static_cast<int>(out_.places.size());
    if (p.memory < 0) p.memory = places_[v];
    out_.places.push_back(std::move(p));
  }

  const Place& place(int p) const { return out_.places[static_cast<std::size_t>(p)]; }

  int slot(ValueId v) {
    const int s = static_cast<int>(out_.resource_slots++);
    slots_[v] = s;
    return s;
  }

  std::vector<Step> region(RegionId r) {
    std::vector<Step> steps;
    bool epilogue = false;        // The next kernel belongs to the call before it.
    std::vector<Step> prologues;  // Kernels that belong to the next call.
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      const std::string_view op = n.op->name();
      if (op == "lir.buffer") buffer(n);
      else if (op == "lir.view") view(n);
      else if (op == "lir.kernel") {
        if (epilogue) join(steps.back(), kernel(n), steps.back().epilogue);
        else (lir::is_prologue(g_, n) ? prologues : steps).push_back(kernel(n));
        epilogue = false;
      } else if (op == "lir.copy") {
        Step s{.kind = Step::Kind::copy, .places = places(n.operands), .info = info(n, "copy")};
        s.reads = {s.places[0]};
        s.writes = {s.places[1]};
        steps.push_back(std::move(s));
      } else if (op == "lir.call") {
        steps.push_back(call(n, std::exchange(prologues, {})));
        epilogue = !n.attrs.as<lir::CallAttrs>().epilogue.empty();
      } else if (op == "lir.while") {
        Step s{.kind = Step::Kind::loop,
               .condition = region(n.regions[0]),
               .max_trips = n.attrs.as<lir::LoopAttrs>().max_trips,
               .trips = n.attrs.as<lir::LoopAttrs>().trips,
               .info = info(n, "while")};
        if (s.trips < 0) s.answer = places_.at(g_.region(n.regions[0]).results[0]);
        s.body = region(n.regions[1]);
        steps.push_back(std::move(s));
      } else if (op == "lir.if") {
        Step s{.kind = Step::Kind::branch,
               .places = places(n.operands),
               .if_true = region(n.regions[0]),
               .info = info(n, "if")};
        s.if_false = region(n.regions[1]);
        steps.push_back(std::move(s));
      } else throw InternalError("a program holds " + std::string(op) + ", which is no step");
    }
    return steps;
  }

  std::shared_ptr<StepInfo> info(const Node& n, std::string name) const {
    return std::make_shared<StepInfo>(
        step_info(report_, n.origin, std::move(name), std::string(n.op->name().substr(4)), n.location));
  }

  Step kernel(const Node& n) {
    const auto& a = n.attrs.as<lir::KernelAttrs>();
    Step s{.kind = Step::Kind::kernel, .index = kernels_++, .places = places(n.operands)};
    s.reads.assign(s.places.begin(), s.places.end() - a.writes);
    s.writes.assign(s.places.end() - a.writes, s.places.end());
    auto about = info(n, a.name);
    about->has_infinity = holds_infinity(g_, n.regions[0]);
    s.info = std::move(about);
    return s;
  }

  /// The kernel becomes part of the call's step.
  static void join(Step& call, Step kernel, std::vector<Step>& list) {
    auto about = std::make_shared<StepInfo>(*call.info);
    about->has_infinity = about->has_infinity || kernel.info->has_infinity;
    call.info = std::move(about);
    for (int p : kernel.reads)
      if (std::find(call.writes.begin(), call.writes.end(), p) == call.writes.end()) call.reads.push_back(p);
    call.writes.insert(call.writes.end(), kernel.writes.begin(), kernel.writes.end());
    list.push_back(std::move(kernel));
  }

  std::vector<int> places(const std::vector<ValueId>& values) const {
    std::vector<int> out;
    for (ValueId v : values) out.push_back(places_.at(v));
    return out;
  }

  void buffer(const Node& n) {
    const auto& a = n.attrs.as<lir::BufferAttrs>();
    Place p;
    switch (a.lifetime) {
      case lir::Lifetime::transient:
        p = {Place::Kind::arena, 0, a.offset};
        break;
      case lir::Lifetime::constant:
        p = {Place::Kind::constant, out_.constants.size()};
        out_.constants.push_back(a.value);
        break;
      case lir::Lifetime::output:
        p = {Place::Kind::output, outputs_++};
        break;
      case lir::Lifetime::piecewise:
        p = {Place::Kind::none};
        break;
    }
    add_place(n.results[0], p);
  }

  void view(const Node& n) {
    Place p = out_.places[static_cast<std::size_t>(places_.at(n.operands[0]))];
    p.offset += byte_size(p.type.dtype, n.attrs.as<lir::ViewAttrs>().offset);
    if (p.kind == Place::Kind::output)
      out_.output_bytes -=
          byte_size(g_.tensor_type(n.results[0]).dtype, g_.tensor_type(n.results[0]).numel().constant());
    add_place(n.results[0], p);
  }

  Step call(const Node& n, std::vector<Step> prologues) {
    const auto& a = n.attrs.as<lir::CallAttrs>();
    Call c;
    for (const KernelRecord& r : records_)
      if (r.name.value == a.record && r.op.value == a.op) c.record = &r;
    if (!c.record) throw InternalError("no record " + a.record + " for " + a.op);
    c.op = &registry_.get(a.op);
    TextReader text(a.attributes, "attributes of " + a.record);
    c.attrs = c.op->default_attrs().table().parse(text);
    c.operand_types = a.operand_types;
    c.result_types = a.result_types;
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      const ValueId v = n.operands[i];
      const bool operand = i < static_cast<std::size_t>(a.operands);
      if (const auto it = slots_.find(v); it != slots_.end()) c.resource_slots.push_back(it->second);
      else (operand ? c.in_places : c.out_places).push_back(places_.at(v));
    }
    for (ValueId v : n.results) c.made_slots.push_back(slot(v));
    if (!prologues.empty()) c.prologues.assign(c.in_places.size(), -1);
    for (std::size_t i = 0; i < prologues.size(); ++i) {
      const auto made = std::find(c.in_places.begin(), c.in_places.end(), prologues[i].writes[0]);
      c.prologues[static_cast<std::size_t>(made - c.in_places.begin())] = static_cast<int>(i);
    }
    if (c.record->workspace) {
      const Instance instance{c.op,           &c.attrs, {c.operand_types, {}, nullptr},
                              c.result_types, &target_, !prologues.empty()};
      c.workspace_bytes = c.record->workspace(instance);
    }
    Step s{.kind = Step::Kind::call, .index = out_.calls.size(), .writes = c.out_places};
    for (int p : c.in_places)
      if (place(p).kind != Place::Kind::none) s.reads.push_back(p);
    s.info = info(n, lir::step_name(a));
    for (Step& p : prologues) {
      p.writes.clear();
      join(s, std::move(p), s.prologues);
    }
    out_.calls.push_back(std::move(c));
    return s;
  }

  const Graph& g_;
  const DispatchReport& report_;
  const Registry& registry_;
  const Target& target_;
  std::span<const KernelRecord> records_;
  Steps out_;
  std::map<ValueId, int> places_, slots_;
  std::size_t kernels_ = 0, outputs_ = 0;
};

}  // namespace

StepInfo step_info(const DispatchReport& report, std::int32_t row, std::string name, std::string kind,
                   Location location) {
  StepInfo s{.name = std::move(name), .kind = std::move(kind), .location = std::move(location)};
  if (row < 0) return s;
  const ReportRow& r = report.rows.at(static_cast<std::size_t>(row));
  s.node = (r.region.empty() ? "" : r.region + " ") + r.value;
  s.op = r.op;
  return s;
}

Steps prepare(const Program& program, const Registry& registry, const Target& target,
              std::span<const KernelRecord> records) {
  return Preparer(program, registry, target, records).run();
}

}  // namespace rlx::runtime
