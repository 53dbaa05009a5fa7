//go:build ignore

// Command generate writes names.txt from the time zone database of the Go
// toolchain, the same that time/tzdata puts into the binary.
package main

import (
	"archive/zip"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		log.Fatal(err)
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		log.Fatal(err)
	}
	defer archive.Close()
	var names []string
	for _, f := range archive.File {
		// Factory is the database's "not set up yet", no place's time.
		if !f.FileInfo().IsDir() && f.Name != "Factory" {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	if err := os.WriteFile("names.txt", []byte(strings.Join(names, "\n")+"\n"), 0o644); err != nil {
		log.Fatal(err)
	}
}
