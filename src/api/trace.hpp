// Computations under construction. Every traced function, also a body of a loop and a function inside a derivative,
// fills a graph of its own: what it uses of the functions around it becomes an input of that graph (a capture). Thus
// any of them can be transformed alone and then written into the graph around it, and closed regions need no care of
// their users.
#pragma once
#include <rlx/catalog.hpp>
#include <rlx/staging.hpp>

#include <map>
#include <shared_mutex>
#include <string>

namespace rlx::detail {

/// Guards the default catalog: whatever reads operators holds it shared, extend_default_catalog holds it alone. No user
/// code may run under it.
std::shared_mutex& catalog_mutex();
using CatalogLock = std::shared_lock<std::shared_mutex>;

class Frame : public std::enable_shared_from_this<Frame> {
 public:
  Frame(const std::string& name, std::shared_ptr<Frame> around);

  Graph graph;
  Builder builder;
  std::shared_ptr<Frame> parent;
  int sizes = 0;     ///< Introduced so far, of the outermost frame those of all frames inside it.
  bool open = true;  ///< False once its function has returned: its values are then of no use.
  Handles captured;  ///< What the inputs after the arguments stand for: concrete values, and traced ones of frames
                     ///< around it.

  /// The value here of something concrete or of this frame or one around it; else throws TraceError.
  Value lift(const Handle& h);
  Values lift(const Handles& hs);
  Handles operands(const Handles& arguments) const;  ///< Of its graph: the arguments, then what was captured.
  Handle handle(Value v) { return Handle(Traced{shared_from_this(), v.id}); }
  Handles handles(const Values& vs);

 private:
  Value capture(const Handle& h, const Type& type, const std::string& key);
  std::map<std::string, ValueId> known_;  ///< Captures by identity.
};

/// The frame of the innermost traced function of this thread; null outside.
const std::shared_ptr<Frame>& current_frame();

/// `g` after cleaning, which must not meet an operator being added.
Graph simplified(const Graph& g);
/// The results of `g` (constant shapes) on operands: written into the current frame, or run on the default device.
Handles apply_graph(const Graph& g, const Handles& operands);

/// Throws TraceError, saying why, unless all are concrete.
HostValues host_values(const Handles& hs);
Handles handles_of(HostValues values);
/// Whether values of the type have derivatives.
bool differentiable(const Type& t);

}  // namespace rlx::detail
