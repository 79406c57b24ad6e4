// cached: the plain #[cached] of a function, which keeps each result for good; the control sets a size, as its documentation shows.
// One run a step: service STEPS PER_STEP leak|control
mod beside;

use beside::Beside;
use cached::proc_macro::cached;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

#[cached]
fn report_of(customer: u64, day: u64) -> String {
    format!("report of {customer} on {day} ").repeat(4)
}

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let profiler = dhat::Profiler::new_heap();
    let mut work = Beside::new();
    for _ in 0..numbers[0] * numbers[1] {
        let (customer, day) = (work.random(100_000), work.random(365));
        report_of(customer, day);
        for _ in 0..5 {
            work.request();
        }
    }
    drop(profiler);
}
