// Attributes of operators: plain structs that list their fields once; comparison, printing and parsing follow from
// that.
#pragma once
#include <rlx/ir/host_tensor.hpp>
#include <rlx/ir/text_reader.hpp>
#include <rlx/ir/type.hpp>

#include <concepts>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <vector>

namespace rlx {

/// One member of an attribute struct, for its `static constexpr auto fields = std::tuple{Field{"axis", &A::axis,
/// "doc"}}`.
template <class M>
struct Field {
  std::string_view name;
  M member;
  std::string_view doc;
};
template <class M>
Field(std::string_view, M, std::string_view) -> Field<M>;

namespace detail {
struct AnyField {
  template <class T>
  constexpr operator T() const;
};
template <class A, class... F>
consteval std::size_t member_count() {
  if constexpr (requires { A{F{}..., AnyField{}}; }) return member_count<A, F..., AnyField>();
  else return sizeof...(F);
}
}  // namespace detail

/// An aggregate with defaulted equality whose every member is in `fields` (C arrays are not allowed as members).
template <class A>
concept Attributes = std::is_aggregate_v<A> && requires { A::fields; } && std::equality_comparable<A> &&
                     detail::member_count<A>() == std::tuple_size_v<decltype(A::fields)>;

/// For operators without attributes.
struct NoAttributes {
  bool operator==(const NoAttributes&) const = default;
  static constexpr auto fields = std::tuple{};
};

/// How a member type is printed and parsed. An enumeration E takes part by a function `enum_names(E)` beside it, which
/// returns the names of its values in order.
template <class T>
struct FieldCodec;

#define RLX_FIELD_CODEC(T)                           \
  template <>                                        \
  struct RLX_API FieldCodec<T> {                     \
    static void print(std::string& out, const T& v); \
    static T parse(TextReader& in);                  \
  }
RLX_FIELD_CODEC(bool);
RLX_FIELD_CODEC(int);
RLX_FIELD_CODEC(std::int64_t);
RLX_FIELD_CODEC(double);
RLX_FIELD_CODEC(std::string);
RLX_FIELD_CODEC(DType);
RLX_FIELD_CODEC(Dim);
RLX_FIELD_CODEC(Type);
RLX_FIELD_CODEC(HostTensor);
#undef RLX_FIELD_CODEC

template <class E>
  requires std::is_enum_v<E>
struct FieldCodec<E> {
  static void print(std::string& out, const E& v) { out += enum_names(E{})[static_cast<std::size_t>(v)]; }
  static E parse(TextReader& in) {
    const auto names = enum_names(E{});
    const std::size_t at = in.token_offset();
    std::string known = "one of ";
    for (std::size_t i = 0; i < names.size(); ++i) known += (i ? ", " : "") + std::string(names[i]);
    const std::string word = in.identifier(known.c_str());
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == word) return static_cast<E>(i);
    in.fail(known, at);
  }
};

template <class T>
struct FieldCodec<std::vector<T>> {
  static void print(std::string& out, const std::vector<T>& v) {
    out += '[';
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (i) out += ", ";
      FieldCodec<T>::print(out, v[i]);
    }
    out += ']';
  }
  static std::vector<T> parse(TextReader& in) {
    std::vector<T> v;
    in.expect("[");
    if (in.accept("]")) return v;
    do v.push_back(FieldCodec<T>::parse(in));
    while (in.accept(","));
    in.expect("]");
    return v;
  }
};

/// Attributes within attributes: printed as they are by themselves.
template <Attributes A>
struct FieldCodec<A> {
  static void print(std::string& out, const A& v);
  static A parse(TextReader& in);
};

struct FieldDoc {
  std::string_view name, doc;
  std::string default_text;
};

/// Any attribute struct, immutable and shared.
class RLX_API AnyAttrs {
 public:
  struct Table {
    const std::type_info* type;
    bool (*equal)(const void*, const void*);
    void (*print)(std::string&,
                  const void*);      ///< "{axis = 1}", only what differs from the default; "" if nothing does.
    AnyAttrs (*parse)(TextReader&);  ///< Reads what print writes, including nothing.
    std::vector<FieldDoc> (*fields)();
    AnyAttrs (*substitute)(const void*, const Bindings&);
    void (*symbols)(const void*, std::set<std::string>&);
  };

  AnyAttrs() : AnyAttrs(NoAttributes{}) {}
  template <Attributes A>
  AnyAttrs(A a);  // NOLINT: implicit, so that b.emit("softmax", x, SoftmaxAttrs{.axis = 1}) works
  /// Throws InternalError when it holds another struct.
  template <class A>
  const A& as() const {
    if (*table_->type != typeid(A)) wrong_type(typeid(A));
    return *static_cast<const A*>(data_.get());
  }
  template <class A>
  const A* get_if() const {
    return *table_->type == typeid(A) ? static_cast<const A*>(data_.get()) : nullptr;
  }
  void print(std::string& out) const { table_->print(out, data_.get()); }
  std::string to_string() const {
    std::string s;
    print(s);
    return s;
  }
  /// With symbols in dimensions and types replaced.
  AnyAttrs substitute(const Bindings& bindings) const { return table_->substitute(data_.get(), bindings); }
  /// Adds the symbols that its dimensions and types depend on.
  void collect_symbols(std::set<std::string>& symbols) const { table_->symbols(data_.get(), symbols); }
  const Table& table() const { return *table_; }
  /// Equal structs, field by field as the text form tells them apart: 0.0 and -0.0 differ, NaN equals NaN.
  friend bool operator==(const AnyAttrs& a, const AnyAttrs& b) {
    return *a.table_->type == *b.table_->type && a.table_->equal(a.data_.get(), b.data_.get());
  }

 private:
  [[noreturn]] void wrong_type(const std::type_info& wanted) const;
  std::shared_ptr<const void> data_;
  const Table* table_;
};

}  // namespace rlx

#include <rlx/ir/detail/attribute_fields.hpp>
