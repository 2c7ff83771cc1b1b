//go:build !older

package main

import "github.com/twmb/franz-go/pkg/kgo"

// Since 1.22. Sticky stands for the coordinator's own assignor "uniform".
func native() []kgo.Opt {
	return []kgo.Opt{kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer())}
}
