// lru: each tenant's cache of quotes is cleared when prices change. One run a step: service STEPS PER_STEP leak|control
mod beside;

use beside::Beside;
use lru::LruCache;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

#[inline(never)]
fn quote(cache: &mut LruCache<u64, String>, article: u64, length: usize) {
    cache.put(article, "q".repeat(length));
}

#[inline(never)]
fn prices_changed(cache: &mut LruCache<u64, String>) {
    cache.clear();
}

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let profiler = dhat::Profiler::new_heap();
    let mut work = Beside::new();
    let mut cache = LruCache::new(500);
    for _ in 0..numbers[0] * numbers[1] {
        for _ in 0..20 {
            let (article, length) = (work.random(5000), 20 + work.random(100) as usize);
            quote(&mut cache, article, length);
            work.request();
        }
        prices_changed(&mut cache);
    }
    drop(profiler);
}
