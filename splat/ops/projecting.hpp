// What project and its gradient share: constraints on means, covars, views and intrinsics, operands 0 to 3, and the
// meaning. Renders have the same attributes.
#pragma once
#include "splat/ops/common.hpp"

namespace rlx::splat {

Answer project_means(const ProjectAttrs&, const Signature&);
Answer project_covars(const ProjectAttrs&, const Signature&);
Answer project_views(const ProjectAttrs&, const Signature&);
Answer project_intrinsics(const ProjectAttrs&, const Signature&);
Answer project_size(const ProjectAttrs&, const Signature&);
Answer project_depths(const ProjectAttrs&, const Signature&);
Answer project_filters(const ProjectAttrs&, const Signature&);

Types project_infer(const ProjectAttrs&, const Signature&);
Values project_decompose(Builder&, const ProjectAttrs&, ValuesIn);

/// Operands 0 to 3: three Gaussians of about 0.1 to 0.4, and two cameras that look along z from 4 behind, one turned by
/// atan(3/4) about y, with images of 32 x 24.
std::vector<SampleOperand> project_sample(DType t);

}  // namespace rlx::splat
