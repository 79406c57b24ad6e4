// metrics-exporter-prometheus: a histogram that nobody scrapes. The control runs the upkeep that its documentation asks for.
// service OUT STEPS PER_STEP leak|control
mod beside;

use beside::Beside;
use metrics_exporter_prometheus::PrometheusBuilder;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[allow(non_upper_case_globals)]
#[export_name = "malloc_conf"]
pub static malloc_conf: &[u8] = b"prof:true,prof_active:true,lg_prof_sample:19\0";

#[inline(never)]
fn serve(work: &mut Beside) {
    let size = work.request();
    metrics::histogram!("response_bytes").record(size as f64);
    metrics::counter!("responses_total").increment(1);
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().collect();
    let (steps, per_step): (usize, usize) = (words[2].parse().unwrap(), words[3].parse().unwrap());
    let recorder = PrometheusBuilder::new().set_buckets(&[100.0, 1000.0, 10000.0]).unwrap().build_recorder();
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder).unwrap();
    let mut work = Beside::new();
    for step in 1..=steps {
        for i in 0..per_step {
            serve(&mut work);
            if words[4] == "control" && i % 1000 == 0 {
                handle.run_upkeep();
            }
        }
        let mut profile = jemalloc_pprof::PROF_CTL.as_ref().unwrap().lock().await;
        std::fs::write(format!("{}/heap.{:03}.pb.gz", words[1], step), profile.dump_pprof().unwrap()).unwrap();
    }
}
