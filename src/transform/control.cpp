#include "transform/control.hpp"

#include <algorithm>

namespace rlx::transform {

bool any(const Mask& m) { return std::find(m.begin(), m.end(), true) != m.end(); }
std::size_t count(const Mask& m) { return static_cast<std::size_t>(std::count(m.begin(), m.end(), true)); }

Mask present(ValuesIn values) {
  Mask m;
  for (const Value& v : values) m.push_back(static_cast<bool>(v));
  return m;
}

Values pick(ValuesIn values, const Mask& m) {
  Values out;
  for (std::size_t i = 0; i < m.size(); ++i)
    if (m[i]) out.push_back(values[i]);
  return out;
}

Values spread(ValuesIn picked, const Mask& m) {
  Values out(m.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < m.size(); ++i)
    if (m[i]) out[i] = picked[next++];
  return out;
}

Values joined(std::initializer_list<ValuesIn> lists) {
  Values out;
  for (ValuesIn l : lists) out.insert(out.end(), l.begin(), l.end());
  return out;
}

Control control_of(const Node& n) {
  const std::string_view name = n.op->name();
  return name == "if"           ? Control::if_
         : name == "while"      ? Control::while_
         : name == "scan"       ? Control::scan
         : name == "checkpoint" ? Control::checkpoint
                                : Control::none;
}

bool is_branch(const Node& n) { return control_of(n) == Control::if_ || control_of(n) == Control::checkpoint; }
std::size_t predicates_of(const Node& n) { return control_of(n) == Control::if_ ? 1 : 0; }

Loop loop_of(const Node& n) {
  Loop l{};
  if (control_of(n) == Control::scan) {
    l.scan = n.attrs.as<ops::ScanAttrs>();
    l.carried = static_cast<std::size_t>(l.scan.carried);
    l.sequences = static_cast<std::size_t>(l.scan.sequences);
    l.body = n.regions.at(0);
  } else {
    l.while_ = n.attrs.as<ops::WhileAttrs>();
    l.carried = static_cast<std::size_t>(l.while_.carried);
    l.body = n.regions.at(1);
  }
  l.invariants = n.operands.size() - l.carried - l.sequences;
  l.outputs = n.results.size() - l.carried;
  return l;
}

bool has_effect(const Graph& g, const Node& n) {
  const auto token = [&](ValueId v) { return std::holds_alternative<TokenType>(g.type(v)); };
  return std::any_of(n.operands.begin(), n.operands.end(), token) ||
         std::any_of(n.results.begin(), n.results.end(), token);
}

bool region_has_effect(const Graph& g, RegionId r) {
  for (NodeId id : g.region(r).nodes) {
    const Node& n = g.node(id);
    if (has_effect(g, n)) return true;
    for (RegionId inner : n.regions)
      if (region_has_effect(g, inner)) return true;
  }
  return false;
}

void refuse(const Node& n, std::string_view rule, const std::string& why) {
  const std::string op(n.op->name()), at = n.location.to_string();
  throw LocatedVerifyError(op, std::string(rule),
                           op + ": " + std::string(rule) + ": " + why + (at.empty() ? "" : "  " + at),
                           {n.location.file, n.location.line, {}});
}

void keep_note(Builder& b, std::size_t before, const Node& of) {
  if (of.note.empty()) return;
  for (std::size_t i = before; i < b.graph().node_count(); ++i) {
    Node& n = b.graph().node(static_cast<NodeId>(i));
    if (n.op == of.op && n.parent == b.region() && n.note.empty()) n.note = of.note;
  }
}

Graph decomposition(const Registry& registry, const Node& n, const Types& operands, const SymbolTable& symbols) {
  Graph body{std::string(n.op->name())};
  body.symbols = symbols;
  Builder b(body, registry);
  b.set_location(n.location);
  Values in;
  for (const Type& t : operands) in.push_back(b.input(t, "a" + std::to_string(in.size())));
  for (const Value& v : n.op->decompose(b, n.attrs, in)) b.output(v, "r" + std::to_string(body.outputs().size()));
  return body;
}

std::string unique_name(std::string base, std::vector<std::string>& taken) {
  std::string name = base;
  for (int k = 2; std::find(taken.begin(), taken.end(), name) != taken.end(); ++k)
    name = base + "_" + std::to_string(k);
  taken.push_back(name);
  return name;
}

}  // namespace rlx::transform
