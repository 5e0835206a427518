#include "compile/dispatch.hpp"

#include "compile/choose_path.hpp"
#include "compile/count_check.hpp"
#include "ir/within.hpp"

#include <rlx/ir/builder.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/contraction.hpp>

#include <algorithm>

namespace rlx::compile {
namespace {

void add_unique(std::string& list, std::string_view item) {
  constexpr std::string_view separator = " + ";
  if (item.empty()) return;
  for (std::string_view rest = list; !rest.empty();) {
    const std::size_t end = rest.find(separator);
    if (rest.substr(0, end) == item) return;
    rest.remove_prefix(end == rest.npos ? rest.size() : end + separator.size());
  }
  if (!list.empty()) list += separator;
  list += item;
}

// The algorithm other than exact that a contraction allows; empty: none.
std::string_view algorithm(const AnyAttrs& attrs) {
  const auto* dot = attrs.get_if<ops::DotGeneralAttrs>();
  const auto* conv = attrs.get_if<ops::ConvAttrs>();
  const ops::Algorithm a = dot ? dot->algorithm : conv ? conv->algorithm : ops::Algorithm::exact;
  return a == ops::Algorithm::exact ? std::string_view{} : enum_names(a)[static_cast<std::size_t>(a)];
}

class Dispatcher {
 public:
  Dispatcher(const Registry& registry, const Target& target, std::span<const KernelRecord> records,
             const CompileOptions& options, Graph& mir, DispatchReport& report)
      : registry_(registry),
        target_(target),
        choose_(target, records, options),
        b_(mir, registry),
        report_(report),
        checked_(options.checked),
        open_(report.rows.size()),
        seen_(report.rows.size()) {}

  Builder& builder() { return b_; }

  /// Nodes that no region came to hold: the body of a scan of length 0.
  void close_rows() {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i] || !report_.rows[i].lowering.empty()) continue;
      report_.rows[i].path = Path::rewritten;
      report_.rows[i].notes.push_back("not part of the program: never reached");
    }
  }

  /// Resolves the nodes of a region of `from` into the current region of the MIR graph.
  Values region(const Graph& from, RegionId r, ValuesIn arguments) {
    return transcribe(from, r, arguments, [&](const Node& n, ValuesIn operands) { return node(from, n, operands); });
  }

 private:
  static constexpr int max_depth = 64;  // Of rules and decompositions within each other: a cycle of rules stops here.

  // A node of the user's has its own row and is at depth 0 wherever it comes to stand, so that policies hold inside the
  // regions that rules and decompositions move. What they make besides belongs to the row of the node they replace, and
  // so does the node itself where a rule gives it back.
  Values node(const Graph& from, const Node& n, ValuesIn operands) {
    const bool own = n.origin >= 0 && !open_[static_cast<std::size_t>(n.origin)];
    const int row = row_, depth = depth_;
    const Location location = b_.location();
    if (own) {
      row_ = n.origin;
      depth_ = 0;
      open_[static_cast<std::size_t>(row_)] = seen_[static_cast<std::size_t>(row_)] = true;
    }
    b_.set_origin(row_);
    b_.set_location(n.location);
    Types types;
    for (const Value& v : operands) types.push_back(v.type());
    std::vector<RegionType> regions;
    for (RegionId r : n.regions)
      regions.push_back({from.types_of(from.region(r).arguments), from.types_of(from.region(r).results)});
    const Instance instance{n.op, &n.attrs, {types, regions, &b_.graph().symbols}, from.types_of(n.results), &target_};
    const Values out = resolve(from, n, instance, operands);
    if (own) open_[static_cast<std::size_t>(row_)] = false;
    row_ = row;
    depth_ = depth;
    b_.set_origin(row_);
    b_.set_location(location);
    return out;
  }

  Values resolve(const Graph& from, const Node& n, const Instance& instance, ValuesIn operands) {
    const Choice choice = choose_(instance, depth_);
    ReportRow& row = report_.rows[static_cast<std::size_t>(row_)];
    const bool first = row.lowering.empty();
    if (first) {
      row.path = choice.path;
      row.refusals = choice.refusals;
      cost(row, instance);
    }
    if (choice.path == Path::unresolved || depth_ > max_depth) return unresolved(from, n, instance, operands, choice);
    // Every lowering there is multiplies in the type of the sums, but for records that say otherwise.
    if (const std::string_view a = algorithm(*instance.attrs); !a.empty() && !(choice.record && choice.record->narrows))
      note("algorithm " + std::string(a) + ": computed exactly");
    ++depth_;
    Values out;
    bool is_kept = false;
    if (choice.record) {
      add_unique(row.provider, choice.record->provider.value);
      if (first) row.lowering = choice.record->name.value;
      if (!choice.record->deterministic) note("not reproducible: " + std::string(choice.record->name.value));
      if (choice.record->widens)
        if (const std::string what = choice.record->widens(instance); !what.empty()) note("widened: " + what);
      if (choice.record->synchronises) note("waits for the device: " + std::string(choice.record->name.value));
      if (std::holds_alternative<Launch>(choice.record->action.value)) {
        out = keep(from, n, operands);
        b_.graph().node(b_.graph().value(out.front().id).node).record = choice.record->name.value;
      } else {
        out = emit_and_resolve(operands, [&](Builder& b, ValuesIn in) {
          return detail::within(n.op->name(), "expansion",
                                [&] { return std::get<Expand>(choice.record->action.value)(b, instance, in); });
        });
      }
    } else if (choice.rule) {
      Graph body("body");
      try {
        emit(body, operands, [&](Builder& b, ValuesIn in) { return choice.rule->apply(b, instance, from, n, in); });
      } catch (const VerifyError& e) {
        // The rule is at fault: it should not apply, or emit other nodes. To the user it is one more refusal.
        --depth_;
        Choice refused = choice;
        refused.refusals.push_back({"rewritten", std::string(choice.rule->name) + ": " + e.what()});
        if (first) row.refusals.push_back(refused.refusals.back());
        return unresolved(from, n, instance, operands, refused);
      }
      if (first) row.lowering = choice.rule->name;
      out = region(body, Graph::top, operands);
    } else if (choice.path == Path::common) {
      if (first) row.lowering = "decomposition";
      out = emit_and_resolve(operands, [&](Builder& b, ValuesIn in) { return n.op->decompose(b, n.attrs, in); });
    } else {
      const std::string by = target_.interprets() ? "host_reference" : "generated";
      add_unique(row.provider, by);
      if (first) row.lowering = by;
      out = keep(from, n, operands);
      is_kept = true;
      // An Extern operator is legal in MIR only as a call: here one of its reference.
      if (!n.op->is_primitive()) b_.graph().node(b_.graph().value(out.front().id).node).record = "host_reference";
    }
    // A device that interprets looks at what it keeps (runtime/index_checks).
    if (checked_ && takes_counts(n) && !(is_kept && target_.interprets()))
      emit_and_resolve(operands, [&](Builder&, ValuesIn in) {
        Node with_row = n;
        with_row.origin = row_;
        watch_counts(with_row, in);
        return Values{};
      });
    --depth_;
    return out;
  }

  static void cost(ReportRow& row, const Instance& i) {
    if (i.op->cost_rule().kind != RuleKind::given) return;
    const Cost c = i.op->cost(*i.attrs, i.signature);
    if (c.flops.is_constant()) row.flops = static_cast<double>(c.flops.constant());
    if (c.bytes.is_constant()) row.bytes = static_cast<double>(c.bytes.constant());
  }

  /// The node itself in MIR; control flow gets its regions resolved, regions of scalar functions are copied.
  Values keep(const Graph& from, const Node& n, ValuesIn operands) {
    if (n.regions.empty()) return b_.clone(from, n, operands);
    std::vector<RegionBody> bodies;
    for (RegionId r : n.regions) bodies.push_back([&, r](ValuesIn arguments) { return region(from, r, arguments); });
    return b_.emit(n.op->name(), operands, n.attrs, bodies);
  }

  void emit(Graph& body, ValuesIn operands, const std::function<Values(Builder&, ValuesIn)>& fill) {
    body.symbols = b_.graph().symbols;
    Builder b(body, registry_);
    b.set_location(b_.location());
    Values in;
    for (const Value& v : operands) in.push_back(b.input(v.type(), ""));
    for (const Value& v : fill(b, in)) b.output(v, "");
  }
  Values emit_and_resolve(ValuesIn operands, const std::function<Values(Builder&, ValuesIn)>& fill) {
    Graph body("body");
    emit(body, operands, fill);
    return region(body, Graph::top, operands);
  }

  // Placed all the same, so that one error can list every unresolved node.
  Values unresolved(const Graph& from, const Node& n, const Instance& i, ValuesIn operands, const Choice& choice) {
    ReportRow& row = report_.rows[static_cast<std::size_t>(row_)];
    row.path = Path::unresolved;
    if (depth_ > max_depth)
      row.refusals.push_back({"rewritten", "rules nest deeper than " + std::to_string(max_depth)});
    if (depth_ > 0)
      for (Refusal r : choice.refusals) {
        r.why = "inside: " + std::string(i.op->name()) + ": " + r.why;
        row.refusals.push_back(std::move(r));
      }
    return keep(from, n, operands);
  }

  void note(std::string text) { report_.add_note(row_, std::move(text)); }

  const Registry& registry_;
  const Target& target_;
  const Chooser choose_;
  Builder b_;
  DispatchReport& report_;
  const bool checked_;
  int row_ = -1, depth_ = 0;
  std::vector<bool> open_, seen_;  // Rows whose node is being resolved; whose node was resolved at all.
};

}  // namespace

Graph dispatch(const Graph& hir, const Registry& registry, const Target& target, std::span<const KernelRecord> records,
               const CompileOptions& options, DispatchReport& report) {
  Graph mir(hir.name);
  mir.symbols = hir.symbols;
  Dispatcher dispatcher(registry, target, records, options, mir, report);
  Builder& b = dispatcher.builder();
  Values in;
  for (std::size_t i = 0; i < hir.inputs().size(); ++i)
    in.push_back(b.input(hir.type(hir.inputs()[i]), hir.input_names[i]));
  const Values out = dispatcher.region(hir, Graph::top, in);
  for (std::size_t i = 0; i < out.size(); ++i) b.output(out[i], hir.output_names[i]);
  dispatcher.close_rows();
  return mir;
}

}  // namespace rlx::compile
