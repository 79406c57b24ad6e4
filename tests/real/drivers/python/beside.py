"""The ordinary work of a service: a bounded cache, a window of timings, requests of varying size."""
import collections
import random


class Beside:
    def __init__(self, seed=7):
        self.random = random.Random(seed)
        self.pages = collections.OrderedDict()
        self.timings = collections.deque(maxlen=500)
        for _ in range(600):
            self.request()

    def render(self, key):
        page = self.pages.get(key)
        if page is None:
            page = f"<li>{key}</li>" * self.random.randint(10, 60)
            self.pages[key] = page
            if len(self.pages) > 100:
                self.pages.popitem(last=False)
        return page

    def request(self):
        page = self.render(self.random.randint(0, 400))
        self.timings.append((self.random.random(), len(page)))
        return page
