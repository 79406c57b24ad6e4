mkdir -p jvm; rm -f fifo; mkfifo fifo
java -XX:NativeMemoryTracking=summary -Xms64m -Xmx64m -XX:+AlwaysPreTouch -XX:+UseSerialGC -XX:TieredStopAtLevel=1 Classes <fifo >jvm/out & pid=$!
exec 7>fifo
for m in 1 2; do
  for t in $(seq 200); do grep -q "moment $m" jvm/out && break; sleep 0.1; done
  jcmd $pid GC.run >/dev/null
  jcmd $pid VM.native_memory summary scale=KB >jvm/nmt.$m.txt
  jcmd $pid GC.heap_info >jvm/heap_info.$m.txt
  jcmd $pid VM.metaspace >jvm/metaspace.$m.txt
  cat /proc/$pid/smaps >jvm/smaps.$m; cat /proc/$pid/status >jvm/status.$m
  echo >&7
done
exec 7>&-; wait $pid
