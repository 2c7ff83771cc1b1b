package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/segmentio/kafka-go"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	broker, topic, group := os.Args[1], os.Args[2], os.Args[3]
	background := context.Background()
	writer := &kafka.Writer{Addr: kafka.TCP(broker), Topic: topic, BatchTimeout: 10 * time.Millisecond}
	messages := make([]kafka.Message, 100)
	for number := range messages {
		messages[number].Value = []byte(fmt.Sprint(number))
	}
	check(writer.WriteMessages(background, messages...))
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{broker}, GroupID: group, Topic: topic, StartOffset: kafka.FirstOffset, MaxWait: 200 * time.Millisecond,
	})
	committed := map[int]int64{}
	for seen := 0; seen < 100; seen++ {
		message, err := reader.FetchMessage(background)
		check(err)
		check(reader.CommitMessages(background, message))
		committed[message.Partition] = message.Offset + 1
	}
	check(reader.Close())
	total := int64(0)
	for _, offset := range committed {
		total += offset
	}
	fmt.Printf("OK consumed=100 committed=%d\n", total)
}
