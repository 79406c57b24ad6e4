package main

import (
	"net/http"

	"github.com/gorilla/context"
)

// gorilla/context: values of a request are kept by its registry until they are cleared. The control clears them.
var (
	work   = newBeside()
	clears bool
)

func prepare(control bool) { clears = control }

type user struct {
	id    int
	roles [6]string
}

func authenticate(request *http.Request) {
	context.Set(request, "user", &user{id: work.random.Intn(1000000)})
}

func handle() {
	request, err := http.NewRequest("GET", "/articles", nil)
	if err != nil {
		panic(err)
	}
	authenticate(request)
	if clears {
		context.Clear(request)
	}
}

func serve(requests int) {
	for i := 0; i < requests; i++ {
		handle()
		work.request()
	}
}
