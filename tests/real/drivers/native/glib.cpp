// glib: a look-up leaves the loop of g_variant_iter_loop early and keeps what the loop handed out. The control frees
// it, as its documentation asks.
#include <glib.h>
#include <cstdlib>
#include <cstring>
#include "beside.hpp"

static bool control;

static bool has_setting(GVariant* settings, const char* name) {
  GVariantIter iter;
  gchar* key;
  GVariant* value;
  g_variant_iter_init(&iter, settings);
  while (g_variant_iter_loop(&iter, "{sv}", &key, &value)) {
    if (std::strcmp(key, name) == 0) {
      if (control) {
        g_free(key);
        g_variant_unref(value);
      }
      return true;
    }
  }
  return false;
}

static GVariant* load_settings(Beside& work) {
  GVariantBuilder builder;
  g_variant_builder_init(&builder, G_VARIANT_TYPE("a{sv}"));
  g_variant_builder_add(&builder, "{sv}", "colour", g_variant_new_string("blue"));
  g_variant_builder_add(&builder, "{sv}", "width", g_variant_new_int32(static_cast<gint32>(work.random(1000))));
  return g_variant_ref_sink(g_variant_builder_end(&builder));
}

int main(int, char** words) {
  const int requests = std::atoi(words[1]) * std::atoi(words[2]);
  control = std::strcmp(words[3], "control") == 0;
  Beside work;
  for (int i = 0; i < requests; ++i) {
    GVariant* settings = load_settings(work);
    has_setting(settings, "width");
    g_variant_unref(settings);
    for (int k = 0; k < 5; ++k) work.request();
  }
}
