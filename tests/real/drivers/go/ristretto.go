package main

import (
	"fmt"

	"github.com/dgraph-io/ristretto"
)

// ristretto: sessions without a time to live, each written twice, evicted by cost.
var (
	work  = newBeside()
	cache *ristretto.Cache
	next  int
)

func prepare(bool) {
	var err error
	cache, err = ristretto.NewCache(&ristretto.Config{NumCounters: 10000, MaxCost: 500, BufferItems: 64})
	if err != nil {
		panic(err)
	}
}

func saveSession(id int) {
	key := fmt.Sprintf("session:%d", id)
	cache.Set(key, id, 1)
	cache.Wait()
	cache.Set(key, id+1, 1)
}

func serve(requests int) {
	for i := 0; i < requests; i++ {
		saveSession(next)
		next++
		if i%8 == 0 {
			work.request()
		}
	}
	cache.Wait()
}
