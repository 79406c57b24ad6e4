package main

import (
	"github.com/rcrowley/go-metrics"
)

// go-metrics: a meter for each connection. The control stops it, as the documentation of NewMeter asks.
var (
	work  = newBeside()
	stops bool
)

func prepare(control bool) { stops = control }

func handleConnection(requests int) {
	meter := metrics.NewMeter()
	for i := 0; i < requests; i++ {
		meter.Mark(int64(work.request()))
	}
	if stops {
		meter.Stop()
	}
}

func serve(connections int) {
	for i := 0; i < connections; i++ {
		handleConnection(1 + work.random.Intn(4))
	}
}
