#include <rlx/ir/host_value.hpp>

namespace rlx {

Type type_of(const HostValue& v) {
  struct Visitor {
    Type operator()(const HostTensor& t) const { return tensor(t.dtype(), Shape(t.shape().begin(), t.shape().end())); }
    Type operator()(const HostSparse& s) const { return s.type; }
    Type operator()(const HostResource& r) const { return r.type; }
    Type operator()(const HostToken&) const { return TokenType{}; }
  };
  return std::visit(Visitor{}, v);
}

}  // namespace rlx
