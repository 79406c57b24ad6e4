// The ordinary work of a service: a bounded cache, a window of timings, requests of varying size.
use std::collections::{HashMap, VecDeque};

pub struct Beside {
    state: u64,
    pages: HashMap<u64, Vec<u8>>,
    order: VecDeque<u64>,
    timings: VecDeque<f64>,
}

impl Beside {
    pub fn new() -> Self {
        let mut work = Beside { state: 7, pages: HashMap::new(), order: VecDeque::new(), timings: VecDeque::new() };
        for _ in 0..6000 {
            work.request();
        }
        work
    }

    pub fn random(&mut self, below: u64) -> u64 {
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.state >> 33) % below
    }

    #[inline(never)]
    pub fn request(&mut self) -> usize {
        let key = self.random(1500);
        self.timings.push_back(key as f64);
        if self.timings.len() > 5000 {
            self.timings.pop_front();
        }
        if let Some(page) = self.pages.get(&key) {
            return page.len();
        }
        let size = 500 + self.random(3500) as usize;
        self.pages.insert(key, vec![1; size]);
        self.order.push_back(key);
        if self.order.len() > 200 {
            let oldest = self.order.pop_front().unwrap();
            self.pages.remove(&oldest);
        }
        size
    }
}
