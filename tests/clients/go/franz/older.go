//go:build older

package main

import "github.com/twmb/franz-go/pkg/kgo"

func native() []kgo.Opt { panic("only newer versions can be native members") }
