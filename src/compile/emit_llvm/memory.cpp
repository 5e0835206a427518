// Loads and stores: one element, a run of elements, or one address a lane.
#include "compile/emit_llvm/elementwise.hpp"
#include "compile/emit_llvm/kernel.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>

#include <algorithm>

namespace rlx::emit_llvm {

namespace {
unsigned alignment_of(LLVMTypeRef element) { return static_cast<unsigned>(std::max(1, Ir::bits(element) / 8)); }
}  // namespace

// Buffers that cannot overlap get scopes of their own, so that loads may move across stores to the others.
void Kernel::make_scopes() {
  const Node& n = g_.node(plan_.node);
  auto text = [&](const std::string& s) { return LLVMMDStringInContext2(ir_.c, s.data(), s.size()); };
  LLVMMetadataRef domain_name = text("rlx." + plan_.attrs->name);
  LLVMMetadataRef domain = LLVMMDNodeInContext2(ir_.c, &domain_name, 1);
  std::vector<LLVMMetadataRef> scope;
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    LLVMMetadataRef parts[] = {text("rlx." + plan_.attrs->name + "." + std::to_string(i)), domain};
    scope.push_back(LLVMMDNodeInContext2(ir_.c, parts, 2));
  }
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    std::vector<LLVMMetadataRef> apart;
    for (std::size_t j = 0; j < n.operands.size(); ++j)
      if (plan_.disjoint[i][j]) apart.push_back(scope[j]);
    scopes_.push_back(LLVMMetadataAsValue(ir_.c, LLVMMDNodeInContext2(ir_.c, &scope[i], 1)));
    others_.push_back(
        apart.empty() ? nullptr : LLVMMetadataAsValue(ir_.c, LLVMMDNodeInContext2(ir_.c, apart.data(), apart.size())));
  }
}

V Kernel::tagged(V access, const KernelBufferRef& b) const {
  LLVMSetMetadata(access.v, LLVMGetMDKindIDInContext(ir_.c, "alias.scope", 11), scopes_[b.index]);
  if (others_[b.index]) LLVMSetMetadata(access.v, LLVMGetMDKindIDInContext(ir_.c, "noalias", 7), others_[b.index]);
  return access;
}

V Kernel::address(const KernelBufferRef& b, LLVMTypeRef element, V index) const {
  return ir_.wrap(LLVMBuildGEP2(ir_.b, element, b.address.v, &index.v, 1, ""));
}

/// Elements of a plain type at `index`, in the lanes that the index calls for.
V Kernel::load_plain(const KernelBufferRef& b, LLVMTypeRef element, const Val& index) {
  if (is_scalar(index)) {
    const V x = ir_.wrap(LLVMBuildLoad2(ir_.b, element, address(b, element, index.re).v, ""));
    LLVMSetAlignment(x.v, alignment_of(element));
    return tagged(x, b);
  }
  const LLVMTypeRef t = Ir::widen(element, lanes_);
  const V align = ir_.integer(ir_.i32, alignment_of(element));
  if (index.stride == 1 || index.stride == -1) {
    const bool reversed = index.stride == -1;
    const V first = reversed ? index.re - static_cast<double>(lanes_ - 1) : index.re;
    const V at = address(b, element, first);
    if (ahead_) {
      // Read, to be kept in all levels, data; a prefetch beyond the end of memory does nothing.
      const V next = address(b, element, first + ir_.integer(ir_.i64, ahead_));
      ir_.intrinsic("llvm.prefetch", {ir_.ptr},
                    {next, ir_.integer(ir_.i32, 0), ir_.integer(ir_.i32, 3), ir_.integer(ir_.i32, 1)});
    }
    std::vector<int> backwards(static_cast<std::size_t>(lanes_));
    for (int i = 0; i < lanes_; ++i) backwards[static_cast<std::size_t>(i)] = lanes_ - 1 - i;
    V x;
    if (mask_) {
      const V m = reversed ? ir_.shuffle(mask_, {}, backwards) : mask_;
      x = ir_.intrinsic("llvm.masked.load", {t, ir_.ptr}, {at, align, m, ir_.zero(t)});
    } else {
      x = ir_.wrap(LLVMBuildLoad2(ir_.b, t, at.v, ""));
      LLVMSetAlignment(x.v, alignment_of(element));
    }
    tagged(x, b);
    return reversed ? ir_.shuffle(x, {}, backwards) : x;
  }
  const V at = address(b, element, wide(index));
  return tagged(ir_.intrinsic("llvm.masked.gather", {t, at.type()}, {at, align, mask_or_all(), ir_.zero(t)}), b);
}

void Kernel::store_plain(const KernelBufferRef& b, const Val& index, V x) {
  const LLVMTypeRef element = Ir::element(x.type());
  if (is_scalar(index) && Ir::lanes(x.type()) == 1) {
    const V s = ir_.wrap(LLVMBuildStore(ir_.b, x.v, address(b, element, index.re).v));
    LLVMSetAlignment(s.v, alignment_of(element));
    tagged(s, b);
    return;
  }
  x = ir_.splat(x, lanes_);
  const V align = ir_.integer(ir_.i32, alignment_of(element));
  if (index.stride == 1) {
    const V at = address(b, element, index.re);
    if (mask_) {
      tagged(ir_.intrinsic("llvm.masked.store", {x.type(), ir_.ptr}, {x, at, align, mask_}), b);
    } else {
      const V s = ir_.wrap(LLVMBuildStore(ir_.b, x.v, at.v));
      LLVMSetAlignment(s.v, alignment_of(element));
      tagged(s, b);
    }
    return;
  }
  const V at = address(b, element, wide(index));
  tagged(ir_.intrinsic("llvm.masked.scatter", {x.type(), at.type()}, {x, at, align, mask_or_all()}), b);
}

/// Real and imaginary parts, which lie side by side.
V Kernel::load_pair(const KernelBufferRef& b, LLVMTypeRef element, const Val& at, V& imaginary) {
  if (index_is_run(at.stride) && lanes_ > 1 && !mask_) {
    const Val first = index(at.re * 2.0);
    const LLVMTypeRef t = Ir::widen(element, 2 * lanes_);
    const V both = ir_.wrap(LLVMBuildLoad2(ir_.b, t, address(b, element, first.re).v, ""));
    LLVMSetAlignment(both.v, alignment_of(element));
    tagged(both, b);
    std::vector<int> even, odd;
    for (int i = 0; i < lanes_; ++i) {
      even.push_back(2 * i);
      odd.push_back(2 * i + 1);
    }
    imaginary = ir_.shuffle(both, {}, odd);
    return ir_.shuffle(both, {}, even);
  }
  Val re = at, im = at;
  re.re = at.re * 2.0;
  re.stride = at.stride * 2;
  im.re = re.re + 1.0;
  im.stride = re.stride;
  imaginary = load_plain(b, element, im);
  return load_plain(b, element, re);
}

Val Kernel::load_element(const KernelBufferRef& b, const Val& at) {
  const LLVMTypeRef element = storage_type(ir_, b.dtype);
  Val x{b.dtype, {}};
  if (is_complex(b.dtype)) x.re = load_pair(b, element, at, x.im);
  else if (b.dtype == DType::i4) {
    // Two elements a byte, the low nibble first.
    Val byte = at;
    const V w = is_scalar(at) ? at.re : wide(at);
    byte.re = ashr(w, 1);
    byte.stride = 0;
    const V shift = resize_signed(shl(bits_and(w, 1), 2), ir_.i8);
    const V raw = load_plain(b, element, byte);
    x.re = ashr(shl(ir_.wrap(LLVMBuildLShr(ir_.b, raw.v, shift.v, "")), 4), 4);
  } else x.re = from_storage(ir_, machine_, b.dtype, load_plain(b, element, at));
  return x;
}

void Kernel::store_element(const KernelBufferRef& b, const Val& at, const Val& x) {
  if (b.dtype == DType::i4) {
    // Neighbours share a byte and may belong to another thread: each nibble is cleared and set atomically. The plan
    // keeps kernels that do this scalar.
    if (!is_scalar(at)) throw InternalError("emit_llvm: i4 stores are scalar");
    const V shift = resize_signed(shl(bits_and(at.re, 1), 2), ir_.i8);
    auto shifted = [&](std::int64_t value, V v) {
      return ir_.wrap(LLVMBuildShl(ir_.b, v ? v.v : ir_.integer(ir_.i8, value).v, shift.v, ""));
    };
    const V place = address(b, ir_.i8, ashr(at.re, 1));
    LLVMBuildAtomicRMW(ir_.b, LLVMAtomicRMWBinOpAnd, place.v, (~shifted(15, {})).v, LLVMAtomicOrderingMonotonic, 0);
    LLVMBuildAtomicRMW(ir_.b, LLVMAtomicRMWBinOpOr, place.v, shifted(0, bits_and(x.re, 15)).v,
                       LLVMAtomicOrderingMonotonic, 0);
    return;
  }
  if (!is_complex(b.dtype)) {
    Val y = x;
    if (y.stride) y = widened(y);
    return store_plain(b, at, to_storage(ir_, machine_, b.dtype, y.re));
  }
  Val re = at, im = at;
  if (index_is_run(at.stride) && lanes_ > 1 && !mask_) {
    std::vector<int> zip;
    for (int i = 0; i < lanes_; ++i) {
      zip.push_back(i);
      zip.push_back(lanes_ + i);
    }
    const V both = ir_.shuffle(ir_.splat(x.re, lanes_), ir_.splat(x.im, lanes_), zip);
    const V s = ir_.wrap(LLVMBuildStore(ir_.b, both.v, address(b, Ir::element(x.re.type()), at.re * 2.0).v));
    LLVMSetAlignment(s.v, alignment_of(Ir::element(x.re.type())));
    tagged(s, b);
    return;
  }
  re.re = at.re * 2.0;
  re.stride = at.stride * 2;
  im.re = re.re + 1.0;
  im.stride = re.stride;
  store_plain(b, re, x.re);
  store_plain(b, im, x.im);
}

void Kernel::prefetch(NodeId access, const KernelBufferRef& b, const Val& index, bool write) {
  const auto it = prefetches_.find(access);
  if (it == prefetches_.end() || mask_ || (lanes_ > 1 && index.stride != 1)) return;
  const Prefetch& p = it->second;
  constexpr int line = 64;
  const LLVMTypeRef element = storage_type(ir_, b.dtype);
  const int width = Ir::bits(element) / 8;
  V from = index.re;
  int bytes = lanes_ * width;
  if (p.half_of >= 0) {
    const V i = value(p.half_of).re;
    from = from - i + lshr(i, 1);
    bytes /= 2;
  }
  if (turn_ * bytes % line != 0) return;  // The vector before it in the same trip has asked for this line.
  for (int at = 0; at < bytes; at += line) {
    const V where = address(b, element, from + ir_.integer(ir_.i64, p.ahead + at / width));
    // Into all levels; data. Beyond the end of memory it does nothing.
    ir_.intrinsic("llvm.prefetch", {ir_.ptr},
                  {where, ir_.integer(ir_.i32, write ? 1 : 0), ir_.integer(ir_.i32, 3), ir_.integer(ir_.i32, 1)});
  }
}

void Kernel::load(NodeId id, const Node& n) {
  const KernelBufferRef& b = buffers_.at(n.operands[0]);
  prefetch(id, b, value(n.operands[1]), false);
  define(n.results[0], load_element(b, value(n.operands[1])));
}
void Kernel::store(NodeId id, const Node& n) {
  const KernelBufferRef& b = buffers_.at(n.operands[0]);
  prefetch(id, b, value(n.operands[1]), true);
  store_element(b, value(n.operands[1]), value(n.operands[2]));
}

}  // namespace rlx::emit_llvm
