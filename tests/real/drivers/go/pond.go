package main

import (
	"github.com/alitto/pond/v2"
)

// pond: a group of tasks for each order, on the pool of the process. The control stops the group, which releases its context.
var (
	work  = newBeside()
	pool  = pond.NewPool(4)
	stops bool
)

func prepare(control bool) { stops = control }

func checkOrder(lines int) {
	group := pool.NewGroup()
	for i := 0; i < lines; i++ {
		group.Submit(func() {})
	}
	group.Wait()
	if stops {
		group.Stop()
	}
}

func serve(requests int) {
	for i := 0; i < requests; i++ {
		checkOrder(1 + work.random.Intn(3))
		work.request()
	}
}
