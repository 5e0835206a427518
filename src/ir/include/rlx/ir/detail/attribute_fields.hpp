// What the fields of an attribute struct give: comparison, printing, parsing, documentation and symbols. Included by
// attributes.hpp.
#pragma once
#include <rlx/ir/attributes.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace rlx {

namespace detail {
/// Whether `a` and `b` print alike. The == of doubles would let a pass merge 0.0 with -0.0, and never a NaN with
/// itself.
template <class T>
bool same_text(const T& a, const T& b) {
  return a == b;
}
inline bool same_text(const double& a, const double& b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a != a && b != b);
}
template <class T>
bool same_text(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (const T &x = a[i], &y = b[i]; !same_text(x, y)) return false;
  return true;
}
template <Attributes A>
bool same_text(const A& a, const A& b) {
  return std::apply([&](const auto&... f) { return (same_text(a.*(f.member), b.*(f.member)) && ...); }, A::fields);
}
template <class A>
bool same_attrs(const void* p, const void* q) {
  return same_text(*static_cast<const A*>(p), *static_cast<const A*>(q));
}

template <class A>
void print_attrs(std::string& out, const void* p) {
  const A& a = *static_cast<const A*>(p);
  const A defaults{};
  bool any = false;
  std::apply(
      [&](const auto&... f) {
        (
            [&] {
              const auto& v = a.*(f.member);
              if (same_text(v, defaults.*(f.member))) return;
              out += any ? ", " : "{";
              any = true;
              (out += f.name) += " = ";
              FieldCodec<std::remove_cvref_t<decltype(v)>>::print(out, v);
            }(),
            ...);
      },
      A::fields);
  if (any) out += '}';
}

/// "one of axis, keep", what may be given.
template <class... F>
std::string attribute_names(const std::tuple<F...>& fields) {
  std::string names;
  std::apply([&](const auto&... f) { ((names += (names.empty() ? "" : ", ") + std::string(f.name)), ...); }, fields);
  return names.empty() ? "no attribute" : "one of " + names;
}

/// What follows "{".
template <class A>
A parse_fields(TextReader& in) {
  A a{};
  if (in.accept("}")) return a;
  std::vector<std::string> seen;
  do {
    const std::size_t at = in.token_offset();
    const std::string key = in.identifier("the name of an attribute");
    for (const std::string& s : seen)
      if (s == key) in.fail_at(at, "attribute \"" + key + "\" is given twice");
    in.expect("=");
    bool found = false;
    std::apply(
        [&](const auto&... f) {
          (
              [&] {
                if (found || f.name != key) return;
                found = true;
                auto& member = a.*(f.member);
                member = FieldCodec<std::remove_cvref_t<decltype(member)>>::parse(in);
              }(),
              ...);
        },
        A::fields);
    if (!found) in.fail(attribute_names(A::fields), at);
    seen.push_back(key);
  } while (in.accept(","));
  in.expect("}");
  return a;
}

template <class A>
AnyAttrs parse_attrs(TextReader& in) {
  return in.accept("{") ? parse_fields<A>(in) : A{};
}

template <class A>
std::vector<FieldDoc> field_docs() {
  std::vector<FieldDoc> docs;
  const A defaults{};
  std::apply(
      [&](const auto&... f) {
        (
            [&] {
              FieldDoc d{f.name, f.doc, {}};
              FieldCodec<std::remove_cvref_t<decltype(defaults.*(f.member))>>::print(d.default_text,
                                                                                     defaults.*(f.member));
              docs.push_back(std::move(d));
            }(),
            ...);
      },
      A::fields);
  return docs;
}

template <class T>
void substitute_field(T&, const Bindings&) {}
inline void substitute_field(Dim& d, const Bindings& b) { d = d.substitute(b); }
inline void substitute_field(Type& t, const Bindings& b) { t = rlx::substitute(t, b); }
template <class T>
void substitute_field(std::vector<T>& list, const Bindings& b) {
  if constexpr (std::is_same_v<T, Dim> || std::is_same_v<T, Type>)
    for (T& t : list) substitute_field(t, b);
}

template <Attributes A>
void substitute_field(A& a, const Bindings& b) {
  std::apply([&](const auto&... f) { (substitute_field(a.*(f.member), b), ...); }, A::fields);
}

template <class A>
AnyAttrs substitute_attrs(const void* p, const Bindings& bindings) {
  A a = *static_cast<const A*>(p);
  substitute_field(a, bindings);
  return a;
}

template <class T>
void symbols_of_field(const T&, std::set<std::string>&) {}
inline void symbols_of_field(const Dim& d, std::set<std::string>& symbols) {
  if (d.is_constant()) return;
  for (std::string& s : d.symbols()) symbols.insert(std::move(s));
}
inline void symbols_of_field(const Type& t, std::set<std::string>& symbols) { rlx::collect_symbols(t, symbols); }
template <class T>
void symbols_of_field(const std::vector<T>& list, std::set<std::string>& symbols) {
  if constexpr (std::is_same_v<T, Dim> || std::is_same_v<T, Type>)
    for (const T& t : list) symbols_of_field(t, symbols);
}
template <Attributes A>
void symbols_of_field(const A& a, std::set<std::string>& symbols) {
  std::apply([&](const auto&... f) { (symbols_of_field(a.*(f.member), symbols), ...); }, A::fields);
}
template <class A>
void symbols_of_attrs(const void* p, std::set<std::string>& symbols) {
  symbols_of_field(*static_cast<const A*>(p), symbols);
}

template <class A>
const AnyAttrs::Table attrs_table{&typeid(A),    same_attrs<A>,       print_attrs<A>,     parse_attrs<A>,
                                  field_docs<A>, substitute_attrs<A>, symbols_of_attrs<A>};
}  // namespace detail

template <Attributes A>
void FieldCodec<A>::print(std::string& out, const A& v) {
  const std::size_t before = out.size();
  detail::print_attrs<A>(out, &v);
  if (out.size() == before) out += "{}";
}
template <Attributes A>
A FieldCodec<A>::parse(TextReader& in) {
  in.expect("{");
  return detail::parse_fields<A>(in);
}

template <Attributes A>
AnyAttrs::AnyAttrs(A a) : data_(std::make_shared<const A>(std::move(a))), table_(&detail::attrs_table<A>) {}

}  // namespace rlx
