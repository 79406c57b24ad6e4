// A service whose parts are chosen on the command line: svc STEPS SEED PAUSE_MS NAME...
use std::collections::HashMap;
use std::time::{Duration, Instant};

struct Session {
    id: u64,
    body: Vec<u8>,
}

#[derive(Default)]
struct State {
    sessions: HashMap<u64, Session>,
    journal: Vec<String>,
    cache: HashMap<u64, Vec<u8>>,
    table: Vec<u8>,
    ring: Vec<Vec<u8>>,
    random: u64,
}

impl State {
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.random >> 33
    }

    #[inline(never)]
    fn track_session(&mut self) {
        for _ in 0..200 {
            let id = self.sessions.len() as u64;
            self.sessions.insert(id, Session { id, body: blob(240) });
        }
    }

    #[inline(never)]
    fn keep_journal(&mut self) {
        for i in 0..300 {
            self.journal.push(format!("line {} {}", i, "x".repeat(150)));
        }
    }

    #[inline(never)]
    fn warm_cache(&mut self) {
        for _ in 0..300 {
            let key = self.next() % 500 * (self.next() % 3) / 2;
            self.cache.entry(key).or_insert_with(|| blob(1024));
        }
    }

    #[inline(never)]
    fn load_table(&mut self, step: u64) {
        if step == 3 {
            self.table = blob(900_000);
        }
    }

    #[inline(never)]
    fn touch_ring(&mut self) {
        for _ in 0..20 {
            let at = (self.next() % 64) as usize;
            if self.ring.len() < 64 {
                self.ring.push(blob(4096));
            } else {
                self.ring[at] = blob(4096);
            }
        }
    }
}

#[inline(never)]
fn blob(size: usize) -> Vec<u8> {
    vec![1; size]
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let steps: u64 = arguments[1].parse().unwrap();
    let pause: u64 = arguments[3].parse().unwrap();
    let mut state = State { random: arguments[2].parse().unwrap(), ..Default::default() };
    let start = Instant::now();
    for step in 1..=steps {
        for name in &arguments[4..] {
            match name.as_str() {
                "session" => state.track_session(),
                "journal" => state.keep_journal(),
                "cache" => state.warm_cache(),
                "table" => state.load_table(step),
                "ring" => state.touch_ring(),
                _ => std::process::exit(2),
            }
        }
        drop(blob(7_000_000 + step as usize)); // a recording shows the step by this size
        let due = start + Duration::from_millis(step * pause);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    let kept: u64 = state.sessions.values().map(|s| s.id + s.body.len() as u64).sum();
    println!("{}", kept + state.journal.len() as u64 + state.table.len() as u64);
    std::process::exit(0); // what is live stays live
}
