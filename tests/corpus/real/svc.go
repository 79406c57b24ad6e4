// A service whose parts are chosen on the command line: svc OUT STEPS SEED RATE NAME... writes a heap profile a step.
package main

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
)

type session struct {
	id   int
	body []byte
	tags map[string]string
}

var (
	sessions = map[int]*session{}
	journal  [][]byte
	topics   []chan int
	interned = map[string]string{}
	cache    = map[int][]byte{}
	ring     [256][]byte
	table    []byte
	burst    [][]byte
	queue    [][]byte
	doubled  []int64
	rng      *rand.Rand
	step     int
)

func newBody(size int) []byte {
	b := make([]byte, size)
	b[0] = 1
	return b
}

// Leaks.

func trackSession() {
	for i := 0; i < 300; i++ {
		id := len(sessions)
		sessions[id] = &session{id: id, body: newBody(256), tags: map[string]string{"k": "v"}}
	}
}

func appendJournal() {
	for i := 0; i < 500; i++ {
		var line bytes.Buffer
		line.WriteString(strings.Repeat("x", 200+rng.Intn(40)))
		journal = append(journal, line.Bytes())
	}
}

func watchTopic(depth int) {
	if depth > 0 {
		watchTopic(depth - 1)
		return
	}
	for i := 0; i < 40; i++ {
		topics = append(topics, make(chan int, 512))
	}
}

func internName(name string) {
	for i := 0; i < 8; i++ {
		key := name + strconv.Itoa(len(interned))
		interned[key] = strings.Repeat(key, 20)
	}
}

func parseA() { internName("a") }
func parseB() { internName("b") }
func parseC() { internName("c") }
func parseD() { internName("d") }
func parseE() { internName("e") }
func parseF() { internName("f") }
func parseG() { internName("g") }
func parseH() { internName("h") }
func parseI() { internName("i") }
func parseJ() { internName("j") }
func parseK() { internName("k") }
func parseL() { internName("l") }
func parseM() { internName("m") }
func parseN() { internName("n") }

func internAll() {
	for _, parse := range []func(){parseA, parseB, parseC, parseD, parseE, parseF, parseG, parseH, parseI, parseJ, parseK, parseL, parseM, parseN} {
		parse()
	}
}

// Harmless.

func warmCache() {
	for i := 0; i < 400; i++ {
		key := int(rng.ExpFloat64() * 80)
		if cache[key] == nil && key < 400 {
			cache[key] = newBody(2048)
		}
	}
}

func touchRing() {
	for i := 0; i < 64; i++ {
		ring[rng.Intn(len(ring))] = newBody(4096)
	}
}

func loadTable() {
	if step == 2 {
		table = newBody(3 << 20)
	}
}

func burstLoad() {
	if step == 3 {
		for i := 0; i < 8; i++ {
			burst = append(burst, newBody(1<<20))
		}
	}
	if step == 5 {
		burst = nil
	}
}

func runQueue() {
	for i := rng.Intn(200); i > 0; i-- {
		queue = append(queue, newBody(1024))
	}
	if out := rng.Intn(220); out < len(queue) {
		queue = append([][]byte(nil), queue[out:]...)
	}
}

func fillTable() {
	for i := 0; i < 20000 && len(doubled) < 100000; i++ {
		doubled = append(doubled, int64(i))
	}
}

func handleRequest(names []string) {
	for _, name := range names {
		switch name {
		case "session":
			trackSession()
		case "journal":
			appendJournal()
		case "topic":
			watchTopic(step % 5)
		case "intern":
			internAll()
		case "cache":
			warmCache()
		case "ring":
			touchRing()
		case "table":
			loadTable()
		case "burst":
			burstLoad()
		case "queue":
			runQueue()
		case "double":
			fillTable()
		}
	}
}

func main() {
	out, steps := os.Args[1], atoi(os.Args[2])
	rng = rand.New(rand.NewSource(int64(atoi(os.Args[3]))))
	runtime.MemProfileRate = atoi(os.Args[4])
	debug := 0
	if os.Getenv("DEBUG1") != "" {
		debug = 1
	}
	for step = 1; step <= steps; step++ {
		handleRequest(os.Args[5:])
		runtime.GC()
		runtime.GC()
		suffix := ".pb.gz"
		if debug == 1 {
			suffix = ".txt"
		}
		file, err := os.Create(filepath.Join(out, fmt.Sprintf("heap.%03d%s", step, suffix)))
		if err != nil {
			panic(err)
		}
		pprof.Lookup("heap").WriteTo(file, debug)
		file.Close()
	}
}

func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}
