//go:build !noweb

// Package web carries the built browser interface inside the binary.
//
// The files under dist are made by `npm run build` and are not committed; only
// an empty placeholder is, so that the package compiles in a fresh clone. The
// build tag `noweb` leaves the files out of the binary altogether.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files returns the built interface, rooted so that "index.html" opens the
// page. The second result is false when the interface was not built: then
// there is no index.html and the caller should answer that the interface is
// missing.
func Files() (fs.FS, bool) {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, false
	}
	if _, err := fs.Stat(sub, "index.html"); err != nil {
		return nil, false
	}
	return sub, true
}
