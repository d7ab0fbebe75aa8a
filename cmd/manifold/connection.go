package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/internal/app"
)

// connection is where the server is and what opens it, as far as flags say so;
// the environment and the file of a server on this machine say the rest.
type connection struct {
	getenv              func(string) string
	server, key, config string
}

// client connects as the flags, the environment or the file say.
func (c *connection) client() (*client.Client, error) {
	url, key := c.server, c.key
	if url == "" {
		url = c.getenv("MANIFOLD_URL")
	}
	if key == "" {
		key = c.getenv("MANIFOLD_KEY")
	}
	if url == "" || key == "" {
		found, err := c.settings()
		if err != nil {
			return nil, err
		}
		if url == "" {
			url = found.URL
		}
		// A key is sent only to the server that it belongs to.
		if key == "" && strings.TrimRight(url, "/") == found.URL {
			key = found.Key
		}
	}
	if url == "" {
		url = "http://127.0.0.1:8080"
	}
	return client.New(client.Config{URL: url, Key: key, UserAgent: "manifold/" + version})
}

// settings reads the file that a server wrote; a missing one is no fault
// unless it was asked for.
func (c *connection) settings() (app.ClientSettings, error) {
	var s app.ClientSettings
	path, asked := c.config, c.config != ""
	if !asked {
		path = c.getenv("MANIFOLD_CONFIG")
		asked = path != ""
	}
	if !asked {
		path = filepath.Join(dataDir(c.getenv), "client.json")
	}
	body, err := os.ReadFile(path) //nolint:gosec // the file that the caller names
	if errors.Is(err, fs.ErrNotExist) && !asked {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read the settings: %w", err)
	}
	if err := json.Unmarshal(body, &s); err != nil {
		return s, fmt.Errorf("settings in %s: %w", path, err)
	}
	return s, nil
}

// dataDir is where a server keeps its data unless it is told otherwise.
func dataDir(getenv func(string) string) string {
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "manifold")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "share", "manifold")
	}
	return "manifold-data"
}
