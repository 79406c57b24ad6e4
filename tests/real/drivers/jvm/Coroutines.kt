import kotlinx.coroutines.*
import kotlinx.coroutines.channels.*

/** kotlinx-coroutines: workers that take work off a channel and rest in between. */
val beside = Beside()

suspend fun consume(work: ReceiveChannel<Int>) {
    for (item in work) {
        beside.request()
        delay(1)
    }
}

fun main(words: Array<String>) = runBlocking {
    val source = produce(capacity = 3) {
        var i = 0
        while (true) {
            send(i++)
            if (i % 4 == 0) delay(1)
        }
    }
    val workers = List(8) { launch { consume(source) } }
    for (step in 1..words[2].toInt()) {
        delay(words[3].toLong())
        Beside.record(words[0], words[1], step)
    }
    workers.forEach { it.cancel() }
    source.cancel()
}
