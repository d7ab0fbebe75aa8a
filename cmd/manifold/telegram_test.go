package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestTelegramSettingsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		says string
	}{
		"a token on the command line":      {[]string{"--telegram-token", "4711:abc"}, "must be env:NAME"},
		"a variable that is not set":       {[]string{"--telegram-token", "env:NOT_SET"}, "must be set"},
		"users without a token":            {[]string{"--telegram-users", "1=rita:viewer"}, "need --telegram-token"},
		"a user without a role":            {[]string{"--telegram-token", "env:TOKEN", "--telegram-users", "1=rita"}, "ID=NAME:ROLE"},
		"a user by name":                   {[]string{"--telegram-token", "env:TOKEN", "--telegram-users", "rita=rita:viewer"}, "ID=NAME:ROLE"},
		"a user twice":                     {[]string{"--telegram-token", "env:TOKEN", "--telegram-users", "1=rita:viewer,2=otto:viewer", "--telegram-users", "01=eva:approver"}, "names 1 twice"},
		"approvers who are not listed":     {[]string{"--telegram-token", "env:TOKEN", "--telegram-users", "1=rita:viewer", "--telegram-approver-chats", "2"}, "neither a person nor a group"},
		"a group by name":                  {[]string{"--telegram-token", "env:TOKEN", "--telegram-users", "1=rita:viewer", "--telegram-groups", "ops"}, "must be numbers"},
		"nobody who may use it":            {[]string{"--telegram-token", "env:TOKEN"}, "at least one person"},
		"a person with an impossible name": {[]string{"--telegram-token", "env:TOKEN", "--telegram-users", "1=service:viewer:x"}, "role"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			getenv := func(name string) string {
				if name == "TOKEN" {
					return "4711:secret-token"
				}
				return ""
			}
			var out, errs bytes.Buffer
			dir := t.TempDir()
			args := append([]string{"serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(dir, "data")}, test.args...)
			if code := run(t.Context(), args, getenv, nil, &out, &errs); code == exitOK || !strings.Contains(errs.String(), test.says) {
				t.Errorf("ends with %d and says %s", code, &errs)
			}
			if strings.Contains(out.String()+errs.String(), "secret-token") {
				t.Error("it tells the token")
			}
		})
	}
}
