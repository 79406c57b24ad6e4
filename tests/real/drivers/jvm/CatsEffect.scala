import cats.effect._

/** cats-effect: requests race a shutdown signal that has not come; the wait for it is cancelled each time. */
object CatsEffect extends IOApp {
  private val beside = new Beside

  private def request: IO[Int] = IO.cede *> IO.cede *> IO(beside.request())

  private def serve(shutdown: Deferred[IO, Unit]): IO[Unit] = IO.race(shutdown.get, request).void

  def run(words: List[String]): IO[ExitCode] =
    for {
      shutdown <- Deferred[IO, Unit]
      _ <- (1 to words(2).toInt).foldLeft(IO.unit) { (before, step) =>
        before *> serve(shutdown).replicateA_(words(3).toInt) *> IO(Beside.record(words(0), words(1), step))
      }
      _ <- shutdown.complete(())
    } yield ExitCode.Success
}
