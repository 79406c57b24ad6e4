import prometheus_client as p, gc
g=p.Gauge('cache_entries','Entries in cache',['cache']); g.labels('users').set(1234)
b=p.Gauge('cache_size_bytes','Size',['cache']); b.labels('users').set(5.5e6)
print(p.generate_latest().decode(),end='')
