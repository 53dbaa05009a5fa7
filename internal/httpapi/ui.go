package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

// noUI is shown by a binary that was built without the web application.
const noUI = "This Checkstack was built without its web interface. Build it with `make build`.\n"

// ui serves the web application: its files under their names, and index.html
// for every other path, which the application routes itself.
func ui(d Deps) http.Handler {
	var index []byte
	if d.UI != nil {
		index, _ = fs.ReadFile(d.UI, "index.html")
	}
	sum := sha256.Sum256(index)
	etag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This path takes GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		if index == nil {
			http.Error(w, noUI, http.StatusNotFound)
			return
		}
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		if name != "" && name != "index.html" {
			if asset(w, r, d.UI, name) {
				return
			}
			if strings.HasPrefix(name, "assets/") {
				// An old page asks for a file of an older build: index.html in its
				// place would only break it in a less obvious way.
				http.NotFound(w, r)
				return
			}
		}
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", etag)
		http.ServeContent(w, r, "index.html", time.Time{}, bytes.NewReader(index))
	})
}

// asset serves one built file, its gzipped twin when the browser takes it.
func asset(w http.ResponseWriter, r *http.Request, files fs.FS, name string) bool {
	if !fs.ValidPath(name) {
		return false
	}
	body, err := fs.ReadFile(files, name)
	if err != nil {
		return false
	}
	h := w.Header()
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		h.Set("Content-Type", t)
	}
	if strings.HasPrefix(name, "assets/") { // the build puts a hash into these names
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	if zipped, err := fs.ReadFile(files, name+".gz"); err == nil {
		h.Add("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = zipped
		}
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
	return true
}
