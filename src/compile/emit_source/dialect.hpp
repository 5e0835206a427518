// What the printer must know of a language. A dialect is a constant of plain data that a backend (or a folder named
// after the language) defines; the printer names no device and no language.
//
// Kernels and helper functions are made of *common text*: the part of C that C-like languages share, in which element
// types go by the names of the IR (f32, i64, u8, bool, c64), numbers have C's suffixes with ul and l for 64 bits, and
// functions C's names (fabs, rint, exp, fmod, isnan, ...). Besides there are
//   f32_bits(x) bits_f32(u) f64_bits(x) bits_f64(u)   a float as the unsigned integer of its bits, and back
//   c64_bits(z) bits_c64(u)                           both parts in one u64; made of those above where not stated
//   make_c64(re, im) make_c128(re, im)                complex numbers; their parts are z.x and z.y
//   min(i, j) max(i, j) clz(i) popcount(i) sign(x)    on integers of any width; the sign of a float
//   INFINITY NAN
// When a program is whole, its words become those of the language: element types by `types`, other words by `words`,
// numbers by the suffixes. What uses a word that `lacks` names, or a type that is not in `types`, is not there; where
// the common tables know another way, that is taken, and otherwise the operator is refused by name.
//
// All text is a *template*: "{x}", with one character between the braces, is replaced by what the field's comment says
// x is. Other braces stay, so that helper functions are written as they read.
#pragma once
#include <rlx/ir/dtype.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace rlx::emit_source {

inline constexpr DTypeSet any_dtype = storable;

/// An element type that the language has: f16 (for memory alone), f32, f64, c64, c128, integers of 8 to 64 bits, bool.
struct NativeType {
  DType dtype;
  std::string_view name;
  std::string_view suffix = "";  ///< Of a literal.
};

/// A word of common text and what the language says for it, which may be more than a word.
struct Word {
  std::string_view common, native;
};

/// How one element type is held, in common text. A type whose `value` is wider than itself (f16 held in a float) has a
/// `round`, which the printer applies wherever the IR names a value, unless the spelling is marked exact.
struct Element {
  DType dtype;
  std::string_view value;        ///< Type of a name in a body.
  std::string_view memory;       ///< Type of an element of a buffer.
  std::string_view suffix = "";  ///< Of a literal.
  std::string_view computing =
      "";  ///< {U}: unsigned integer in which integer arithmetic wraps without being undefined.
  std::string_view unsigned_same = "";         ///< {V}: unsigned integer of the same width.
  std::string_view load = "{p}[{i}]";          ///< {p} pointer, {i} index, {A} address space, {D} name of `dtype`.
  std::string_view store = "{p}[{i}] = {0};";  ///< {0} the value. Empty: the language cannot store it without a race.
  bool stored_in_local = true;                 ///< Whether `store` is for local memory too.
  std::string_view round = "";                 ///< {0} an expression of type `value`; {D}.
  std::string_view to_bits = "({0})";          ///< {0} a value; gives an unsigned integer of its width (bitcast); {D}.
  std::string_view from_bits = "({0})";        ///< {0} such an integer; {D}.
};

// --- Elements that a dialect may hold as the common rows do, behind an access to memory of its own.
/// f16 and f8 live in a float that holds only values of the narrow type; {D} in text.
constexpr Element in_float(DType t, std::string_view memory) {
  return {.dtype = t,
          .value = "f32",
          .memory = memory,
          .suffix = "f",
          .computing = "u32",
          .unsigned_same = memory,
          .load = "rlx_{D}_value({p}[{i}])",
          .store = "{p}[{i}] = rlx_{D}_bits({0});",
          .round = "rlx_round_{D}({0})",
          .to_bits = "rlx_{D}_bits({0})",
          .from_bits = "rlx_{D}_value({0})"};
}
/// Neighbours share a byte: a store that does not disturb the other one is a language's own affair.
inline constexpr Element packed_i4{.dtype = DType::i4,
                                   .value = "i8",
                                   .memory = "u8",
                                   .computing = "u32",
                                   .unsigned_same = "u8",
                                   .load = "(i8)(((({p}[({i}) >> 1] >> ((({i}) & 1) << 2)) & 15) ^ 8) - 8)",
                                   .store = "",
                                   .round = "(i8)((({0}) & 15 ^ 8) - 8)",
                                   .to_bits = "(u8)(({0}) & 15)",
                                   .from_bits = "(i8)((({0}) & 15 ^ 8) - 8)"};
constexpr Element with_access(Element e, std::string_view memory, std::string_view load, std::string_view store,
                              bool stored_in_local = true) {
  e.memory = memory;
  e.load = load;
  e.store = store;
  e.stored_in_local = stored_in_local;
  return e;
}

/// One scalar operator. The first row whose `op`, `in` and `out` fit the instance and whose words the dialect has is
/// used. `in` is tested against the dtype of the *last* operand, which for select and clamp is the interesting one.
/// Templates: {0} {1} {2} operands (names, so they may be repeated); {T} value type of the result, {S} of the last
/// operand; {R} and {D} the names of these dtypes; {C} and {P} value types of the real parts of {T} and {S}; {N} the
/// language's own name of {T}; {U}, {V} and {W} computing type, unsigned type of the same width, and width in bits of
/// the last operand; of an integer result {l} and {g} its least and greatest value, {j} and {k} as floats the least
/// and the first that is too great; {e} {m} bits of reduce_precision. compare has one row a direction: "compare.lt".
struct Spelling {
  std::string_view op;
  DTypeSet in;
  std::string_view text;
  DTypeSet out = any_dtype;
  bool exact = false;        ///< The result needs no rounding: it is one of the operands, or their sign changed.
  std::string_view needs{};  ///< One more word that the dialect must not lack.
};

/// A function printed before the kernels when its name occurs in them or in another printed helper. Where `dtypes` is
/// not empty, there is one for each: name (which then ends in {D}) and text are templates of {D} {T} {S} {C} {U} {V}
/// {W} of that type.
struct Helper {
  std::string_view name;
  DTypeSet dtypes;
  std::string_view text;
};

struct Dialect {
  std::string_view name;                  ///< "OpenCL C", for errors.
  std::span<const NativeType> types;      ///< What is not here, and what is held in it, is refused.
  std::span<const Word> words{};          ///< Words that the language spells differently.
  std::string_view lacks = "";            ///< Words that it lacks, separated by spaces; see also `Spelling::needs`:
                                          ///< complex_operators (+ - on complex numbers).
  std::span<const Element> elements{};    ///< Rows that take the place of common ones,
  std::span<const Spelling> spellings{};  ///< rows searched before common ones,
  std::span<const Helper> helpers{};      ///< and functions more, or in the place of common ones of the same name.

  std::string_view preamble = "";  ///< First lines of every program, in the language itself.
  std::string_view function = "";  ///< Stands before every helper function.
  std::string_view kernel;         ///< {n} name, {a} parameters, {x} {y} {z} threads of a group.
  std::string_view kernel_end = "}";
  std::string_view parameter;  ///< {k} number of the buffer, {M} its memory type.
  /// A 64-bit number {v}, the {k}th that each launch hands over (EmittedKernel::sizes): a parameter, or a statement
  /// that finds it elsewhere.
  std::string_view size_parameter = "", size_bind = "";
  std::string_view separator = ", ";      ///< Between parameters.
  std::string_view check_parameter = "";  ///< Added to a kernel that contains checks. Empty: checks are refused.
  std::string_view bind = "";             ///< Statement that makes pointer {p} of buffer {k}; {M} as above.
  std::array<std::string_view, 3> group_index{}, thread_index{}, global_index{};
  std::string_view guard = "if ({0} >= {1}) return;";
  std::string_view define = "const {T} {v} = {0};";
  std::string_view define_mutable = "{T} {v} = {0};";
  std::string_view assign = "{v} = {0};";
  std::string_view declare = "{T} {v};";
  std::string_view loop = "for ({T} {v} = {0}; {v} < {1}; {v} += {s}) {";
  std::string_view branch = "if ({0}) {";
  std::string_view otherwise = "} else {";
  std::string_view end = "}";
  std::string_view local_array = "";                     ///< {M} {p} {n} elements. Empty: no local memory.
  std::string_view barrier = "";                         ///< Empty: no barrier.
  std::string_view check = "";                           ///< {0} condition, {1} index, {k} number of the check, from 1.
  std::string_view global_space = "", local_space = "";  ///< What {A} stands for.
  bool hex_floats = true;           ///< Literals 0x1.8p+0; otherwise as many decimal digits as are exact.
  bool casts_as_calls = false;      ///< float(x) and not (float)x.
  std::int64_t group_threads = 64;  ///< Threads of a group under range and mdrange.
};

}  // namespace rlx::emit_source
