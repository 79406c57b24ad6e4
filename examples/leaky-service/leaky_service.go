// The same leak in Go: sessions that nobody closes, beside a cache that is full after the first
// round. Writes heap.NNN.pb.gz into a folder after every round. Usage: leaky_service FOLDER ROUNDS
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
)

const sessionsPerRound = 1000

type session struct {
	token []byte
	next  *session
	state [32]byte
}

var (
	openSessions *session
	cache        [256][]byte
)

//go:noinline
func makeToken(n int) []byte { return make([]byte, n) }

//go:noinline
func openSession() {
	openSessions = &session{token: makeToken(208), next: openSessions} // nobody ever closes it: the leak
}

//go:noinline
func fillCache(request int) { cache[request%len(cache)] = makeToken(4096) }

//go:noinline
func handleRequest(request int) {
	openSession()
	fillCache(request)
}

func writeProfile(path string) error {
	// A heap profile may be up to two collections old.
	runtime.GC()
	runtime.GC()
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := pprof.Lookup("heap").WriteTo(file, 0); err != nil {
		return err
	}
	return file.Close()
}

func main() {
	runtime.MemProfileRate = 1 // every allocation; the default is one sample per 512 KiB
	// Collections only where writeProfile asks for one. A collection amid a round makes the runtime
	// allocate for itself (96 bytes for a waiting goroutine), and Go counts that at the caller it stopped.
	debug.SetGCPercent(-1)
	folder, rounds := os.Args[1], 8
	if len(os.Args) > 2 {
		rounds, _ = strconv.Atoi(os.Args[2])
	}
	for round := 1; round <= rounds; round++ {
		for i := 0; i < sessionsPerRound; i++ {
			handleRequest(i)
		}
		if err := writeProfile(filepath.Join(folder, fmt.Sprintf("heap.%03d.pb.gz", round))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
