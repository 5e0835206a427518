// rlx ops [NAME]: the operators' manual, from their definitions.
#include "context.hpp"
#include "json_output.hpp"

#include <rlx/ir/op.hpp>

#include <algorithm>
#include <iostream>
#include <memory>

namespace rlx::cli {

namespace {

using nlohmann::json;

std::string_view kind_name(OperandKind k) {
  static constexpr std::string_view names[] = {"tensor", "sparse", "resource", "token", "any"};
  return names[static_cast<std::size_t>(k)];
}

std::string_view meaning_name(Meaning m) {
  static constexpr std::string_view names[] = {"primitive", "composite", "extern"};
  return names[static_cast<std::size_t>(m)];
}

json rule(const Op::RuleInfo& r) {
  if (r.kind == RuleKind::never) return {{"kind", "never"}, {"why", r.why}};
  return {{"kind", r.kind == RuleKind::given ? "given" : "derived"}};
}

json manual(const Op& op) {
  json j{{"name", op.name()},
         {"doc", op.doc()},
         {"meaning", meaning_name(op.meaning())},
         {"level", op.has_trait(Trait::lir) ? "lir"
                   : op.is_primitive()      ? "mir"
                                            : "hir"}};
  j["operands"] = json::array();
  for (const Operand& o : op.operands()) {
    json d{{"name", o.name}, {"kind", kind_name(o.kind)}, {"dtypes", o.dtypes.to_string()}, {"variadic", o.variadic}};
    if (!o.resource_kind.empty()) d["resource"] = o.resource_kind;
    j["operands"].push_back(std::move(d));
  }
  j["attributes"] = json::array();
  for (const FieldDoc& f : op.default_attrs().table().fields())
    j["attributes"].push_back({{"name", f.name}, {"default", f.default_text}, {"doc", f.doc}});
  j["constraints"] = json::array();
  for (const ConstraintDoc& c : op.constraints()) j["constraints"].push_back({{"id", c.id}, {"text", c.text}});
  j["rules"] = {{"vjp", rule(op.vjp_rule())},
                {"jvp", rule(op.jvp_rule())},
                {"batch", rule(op.batch_rule())},
                {"shard", rule(op.shard_rule())},
                {"cost", rule(op.cost_rule())}};
  const auto samples = op.samples();
  j["samples"] = {{"cases", samples.size()},
                  {"refusals", std::count_if(samples.begin(), samples.end(),
                                             [](const AnySample& s) { return !s.breaks.empty(); })}};
  return j;
}

std::string meaning_text(Meaning m) {
  switch (m) {
    case Meaning::primitive:
      return "a primitive, with a host reference; devices generate code for it";
    case Meaning::composite:
      return "a composite: its decomposition into primitives is what it means";
    default:
      return "external: a library's; its host reference is slow and small, there is no decomposition";
  }
}

void print_manual(const Op& op) {
  const json j = manual(op);
  std::cout << op.name() << "\n  " << op.doc() << "\n\n  operands\n";
  if (op.operands().empty()) std::cout << "    none\n";
  for (const Operand& o : op.operands()) {
    std::cout << "    " << o.name << (o.variadic ? "..." : "") << ": " << kind_name(o.kind);
    if (!o.resource_kind.empty()) std::cout << " " << o.resource_kind;
    if (o.kind == OperandKind::tensor || o.kind == OperandKind::sparse || !o.resource_kind.empty())
      std::cout << " of " << o.dtypes.to_string();
    std::cout << "\n";
  }
  if (!j["attributes"].empty()) std::cout << "\n  attributes\n";
  for (const json& a : j["attributes"]) {
    const auto value = a["default"].get<std::string>();
    std::cout << "    " << a["name"].get<std::string>() << " = " << (value.empty() ? "\"\"" : value) << ": "
              << a["doc"].get<std::string>() << "\n";
  }
  if (!j["constraints"].empty()) std::cout << "\n  constraints\n";
  for (const json& c : j["constraints"])
    std::cout << "    " << c["id"].get<std::string>() << "  " << c["text"].get<std::string>() << "\n";
  std::cout << "\n  meaning: " << meaning_text(op.meaning()) << "\n\n  rules\n";
  for (const auto& [key, r] : j["rules"].items())
    std::cout << "    " << key << ": " << r["kind"].get<std::string>()
              << (r.contains("why") ? ", because " + r["why"].get<std::string>() : "") << "\n";
  std::cout << "\n  proved by " << j["samples"]["cases"] << " samples, " << j["samples"]["refusals"]
            << " of them refusals\n";
}

/// A full stop behind a word and before a capital ends a sentence; one behind an initial ("J. Rigal") does not.
std::string first_sentence(std::string_view doc) {
  const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  for (std::size_t at = doc.find(". "); at != std::string_view::npos; at = doc.find(". ", at + 1)) {
    const bool initial = at > 0 && upper(doc[at - 1]) && (at == 1 || doc[at - 2] == ' ' || doc[at - 2] == '(');
    if (!initial && at + 2 < doc.size() && upper(doc[at + 2])) return std::string(doc.substr(0, at + 1));
  }
  return std::string(doc);
}

/// "linalg.lu, linalg.lu_solve": of the operators whose names contain `part`, ten at most; none: "".
std::string names_with(const Registry& registry, std::string_view part) {
  std::string names;
  int count = 0;
  for (const Op* op : registry.all())
    if (op->name().find(part) != std::string_view::npos && count++ < 10)
      names += (names.empty() ? "" : ", ") + std::string(op->name());
  return count > 10 ? names + ", ..." : names;
}

struct Ops {
  Context& context;
  std::string name{};
  bool lir = false;

  int run() const {
    const Registry& registry = catalog().operators;
    if (!name.empty()) {
      if (!registry.find(name))
        if (std::string names = names_with(registry, name); !names.empty())
          throw ArgumentError("no operator is called \"" + name + "\"; those whose names contain it: " + names);
      const Op& op = registry.get(name);
      if (context.json) print_json(manual(op));
      else print_manual(op);
      return 0;
    }
    json list = json::array();
    for (const Op* op : registry.all()) {
      if (op->has_trait(Trait::lir) && !lir) continue;
      if (context.json) list.push_back(manual(*op));
      else
        std::cout << op->name() << std::string(op->name().size() < 28 ? 28 - op->name().size() : 1, ' ')
                  << first_sentence(op->doc()) << "\n";
    }
    if (context.json) print_json({{"operators", std::move(list)}});
    return 0;
  }
};

}  // namespace

void add_ops(CLI::App& app, Context& context) {
  auto o = std::make_shared<Ops>(Ops{context});
  CLI::App* c =
      add_command(app, context, "ops", "Lists the operators, or shows the manual of one.", [o] { return o->run(); });
  CLI::Option* name = c->add_option("name", o->name, "operator, such as softmax or linalg.cg");
  c->add_flag("--lir", o->lir, "list the operators of the lowest level too")->excludes(name);
}

}  // namespace rlx::cli
