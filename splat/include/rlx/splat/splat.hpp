// 3D Gaussian splatting: the operators of the family for graphs, pictures of scenes without one, and training.
#pragma once
#include <rlx/splat/build.hpp>
#include <rlx/splat/register.hpp>
#include <rlx/splat/render.hpp>
#include <rlx/splat/renderer.hpp>
#include <rlx/splat/tensor.hpp>
#include <rlx/splat/train.hpp>
#include <rlx/splat/viewpoint.hpp>
