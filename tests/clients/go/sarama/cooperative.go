//go:build !older

package main

import "github.com/IBM/sarama"

// Since 1.61.
func init() { strategies[cooperative] = sarama.NewBalanceStrategyCooperativeSticky }
