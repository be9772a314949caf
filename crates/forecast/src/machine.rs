//! The processor that the machine computes with.

use std::fs;

/// Returns the processor's name, as Linux tells it. For some architectures it does not.
pub fn processor_name() -> Option<String> {
    let described = fs::read_to_string("/proc/cpuinfo").ok()?;
    model(&described).map(str::to_owned)
}

fn model(described: &str) -> Option<&str> {
    let fields = described.lines().filter_map(|line| line.split_once(':'));
    let mut models = fields.filter(|(key, _)| key.trim() == "model name");
    models.next().map(|(_, name)| name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_found() {
        let described =
            "processor\t: 0\nmodel\t\t: 85\nmodel name\t: A CPU @ 2.00GHz\nflags\t\t: x\n";
        assert_eq!(model(described), Some("A CPU @ 2.00GHz"));
        assert_eq!(model("processor\t: 0\nFeatures\t: fp\n"), None);
    }
}
