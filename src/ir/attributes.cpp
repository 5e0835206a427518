// How the member types of attribute structs are written. Tensors: tensor_literal.cpp.
#include <rlx/ir/attributes.hpp>

#include "ir/dim_polynomial.hpp"
#include "ir/type_parse.hpp"

#include <limits>

namespace rlx {

void FieldCodec<bool>::print(std::string& out, const bool& v) { out += v ? "true" : "false"; }
bool FieldCodec<bool>::parse(TextReader& in) {
  if (in.accept("true")) return true;
  if (in.accept("false")) return false;
  in.fail("true or false");
}

void FieldCodec<int>::print(std::string& out, const int& v) { out += std::to_string(v); }
int FieldCodec<int>::parse(TextReader& in) {
  const std::size_t at = in.token_offset();
  const std::int64_t v = in.integer();
  if (v < std::numeric_limits<int>::min() || v > std::numeric_limits<int>::max()) in.fail("an integer of 32 bits", at);
  return static_cast<int>(v);
}

void FieldCodec<std::int64_t>::print(std::string& out, const std::int64_t& v) { out += std::to_string(v); }
std::int64_t FieldCodec<std::int64_t>::parse(TextReader& in) { return in.integer(); }

void FieldCodec<double>::print(std::string& out, const double& v) { print_number(out, v); }
double FieldCodec<double>::parse(TextReader& in) { return in.number(); }

void FieldCodec<std::string>::print(std::string& out, const std::string& v) { print_quoted(out, v); }
std::string FieldCodec<std::string>::parse(TextReader& in) { return in.quoted(); }

void FieldCodec<DType>::print(std::string& out, const DType& v) { out += name(v); }
DType FieldCodec<DType>::parse(TextReader& in) {
  const std::size_t at = in.token_offset();
  if (const auto t = parse_dtype(in.identifier("an element type"))) return *t;
  in.fail("an element type", at);
}

void FieldCodec<Dim>::print(std::string& out, const Dim& v) { out += v.to_string(); }
Dim FieldCodec<Dim>::parse(TextReader& in) {
  const std::size_t at = in.token_offset();
  return detail::inside(in, at, in.dim_text(), "a dimension", detail::parse_dim);
}

void FieldCodec<Type>::print(std::string& out, const Type& v) { out += to_string(v); }
Type FieldCodec<Type>::parse(TextReader& in) {
  const std::size_t at = in.token_offset();
  return detail::inside(in, at, in.type_text(), "a type", [](detail::TextCursor& c) { return detail::parse_type(c); });
}

void AnyAttrs::wrong_type(const std::type_info& wanted) const {
  throw InternalError(std::string("attributes are ") + table_->type->name() + ", asked for as " + wanted.name());
}

}  // namespace rlx
