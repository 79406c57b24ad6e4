package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/sdk/metric"
)

// otelhttp: a scanner sends requests whose method is made up.
var (
	work    = newBeside()
	handler http.Handler
)

func prepare(bool) {
	provider := metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))
	handler = otelhttp.NewHandler(http.HandlerFunc(showPage), "pages", otelhttp.WithMeterProvider(provider))
}

func showPage(w http.ResponseWriter, r *http.Request) {
	w.Write(work.render(work.random.Intn(1500)))
}

func serve(requests int) {
	for i := 0; i < requests; i++ {
		method := "GET"
		if i%2 == 0 {
			method = fmt.Sprintf("X%d", work.random.Int63())
		}
		request := httptest.NewRequest("GET", "http://shop.example/page", nil)
		request.Method = method
		handler.ServeHTTP(httptest.NewRecorder(), request)
		work.request()
	}
}
