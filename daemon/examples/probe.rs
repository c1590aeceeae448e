use graphitid::capture::format::*;
fn main() {
    let mut tally = std::collections::BTreeMap::new();
    let mut items = std::collections::BTreeMap::<String, u64>::new();
    let mut bytes = 0;
    let mut bad = 0;
    let t = std::time::Instant::now();
    for f in std::env::args().skip(1) {
        let p = std::path::Path::new(&f);
        let Some(fmt) = FORMATS.iter().find(|f| f.claims(p)) else {
            println!("unclaimed {f}");
            continue;
        };
        let text = std::fs::read(&f).unwrap();
        bytes += text.len();
        let text = String::from_utf8_lossy(&text);
        let id = fmt.identify(p, &text[..text.floor_char_boundary(65536)]);
        if id.is_none() {
            println!("unidentified {f}")
        }
        let mut m = Memory::default();
        for l in text.lines() {
            if l.trim().is_empty() {
                continue;
            }
            match fmt.read(l, &mut m, &mut |e| {
                let s = format!("{:?}", e.item);
                let k = s.split(['(', ' ', '{']).next().unwrap().to_string();
                *items.entry(k).or_default() += 1;
            }) {
                Ok(Verdict::Read) => *tally.entry("read".to_string()).or_insert(0) += 1,
                Ok(Verdict::Skipped(s)) => *tally.entry(s).or_insert(0) += 1,
                Err(_) => bad += 1,
            }
        }
    }
    println!(
        "{tally:#?} bad {bad} {items:#?} {} MB/s",
        bytes as f64 / 1e6 / t.elapsed().as_secs_f64()
    );
}
