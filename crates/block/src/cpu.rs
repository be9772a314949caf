//! The instruction set that the kernels use: the widest that the processor has.
//!
//! With `--cfg psijoin_backend="portable"` or `"avx2"` none wider is taken, so that whole protocols
//! are tested on what other machines have.

/// An instruction set that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// The instructions that every processor of the target has. Miri runs this one.
    Portable,
    /// x86-64 with AVX2, BMI2 and PCLMULQDQ.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ and VL as well.
    Avx512,
}

/// Returns the widest backend that this processor has.
#[inline]
pub(crate) fn best() -> Backend {
    if has_avx512() {
        Backend::Avx512
    } else if has_avx2() {
        Backend::Avx2
    } else {
        Backend::Portable
    }
}

/// Returns every backend that this processor has, the portable one first.
#[cfg(test)]
pub(crate) fn available() -> Vec<Backend> {
    let mut backends = vec![Backend::Portable];
    backends.extend(has_avx2().then_some(Backend::Avx2));
    backends.extend(has_avx512().then_some(Backend::Avx512));
    backends
}

#[cfg(all(target_arch = "x86_64", not(any(miri, psijoin_backend = "portable"))))]
#[inline]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("pclmulqdq")
}

#[cfg(all(
    target_arch = "x86_64",
    not(any(miri, psijoin_backend = "portable", psijoin_backend = "avx2"))
))]
#[inline]
fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

#[cfg(not(all(target_arch = "x86_64", not(any(miri, psijoin_backend = "portable")))))]
fn has_avx2() -> bool {
    false
}

#[cfg(not(all(
    target_arch = "x86_64",
    not(any(miri, psijoin_backend = "portable", psijoin_backend = "avx2"))
)))]
fn has_avx512() -> bool {
    false
}

/// Defines a function that takes a [`Backend`] first and runs the same generic kernel,
/// compiled for that instruction set. The kernel must be `#[inline(always)]`: it is
/// compiled anew, and vectorised, in each of the wrappers.
macro_rules! multiversion {
    (
        fn $name:ident $(<$(const $generic:ident: usize),+>)? ($($arg:ident: $type:ty),* $(,)?)
        portable $portable:expr;
        avx2 $avx2:expr;
        avx512 $avx512:expr;
    ) => {
        fn $name $(<$(const $generic: usize),+>)? (
            backend: $crate::cpu::Backend, $($arg: $type),*
        ) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi2,pclmulqdq")]
                fn avx2 $(<$(const $generic: usize),+>)? ($($arg: $type),*) {
                    $avx2
                }

                #[target_feature(
                    enable = "avx2,bmi2,pclmulqdq,avx512f,avx512bw,avx512dq,avx512vl"
                )]
                fn avx512 $(<$(const $generic: usize),+>)? ($($arg: $type),*) {
                    $avx512
                }

                match backend {
                    // SAFETY: only `cpu::best` and `cpu::available` make these values, and
                    // only after they saw the features that the wrapper enables.
                    $crate::cpu::Backend::Avx512 => return unsafe {
                        avx512 $(::<$($generic),+>)? ($($arg),*)
                    },
                    // SAFETY: as above.
                    $crate::cpu::Backend::Avx2 => return unsafe {
                        avx2 $(::<$($generic),+>)? ($($arg),*)
                    },
                    $crate::cpu::Backend::Portable => {}
                }
            }
            let _ = backend;
            $portable
        }
    };
}
pub(crate) use multiversion;
