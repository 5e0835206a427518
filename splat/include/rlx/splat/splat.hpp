// 3D Gaussian splatting: the operators of the family for graphs.
#pragma once
#include <rlx/splat/build.hpp>
#include <rlx/splat/register.hpp>
#include <rlx/splat/render.hpp>
