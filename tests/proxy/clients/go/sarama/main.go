package main

import (
	"context"
	"fmt"
	"os"

	"github.com/IBM/sarama"
)

type handler struct {
	seen int
	done context.CancelFunc
}

func (h *handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (h *handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (h *handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		session.MarkMessage(message, "")
		h.seen++
		if h.seen == 100 {
			session.Commit()
			h.done()
			return nil
		}
	}
	return nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	brokers, topic, group := []string{os.Args[1]}, os.Args[2], os.Args[3]
	config := sarama.NewConfig()
	config.Version = sarama.V2_8_0_0
	config.Producer.Return.Successes = true
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	producer, err := sarama.NewSyncProducer(brokers, config)
	check(err)
	for number := 0; number < 100; number++ {
		// One partition: the handler then counts in one goroutine.
		_, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Key: sarama.StringEncoder("k"), Value: sarama.StringEncoder(fmt.Sprint(number))})
		check(err)
	}
	consumer, err := sarama.NewConsumerGroup(brokers, group, config)
	check(err)
	running, cancel := context.WithCancel(context.Background())
	mine := &handler{done: cancel}
	for running.Err() == nil {
		check(consumer.Consume(running, []string{topic}, mine))
	}
	check(consumer.Close())
	admin, err := sarama.NewClusterAdmin(brokers, config)
	check(err)
	offsets, err := admin.ListConsumerGroupOffsets(group, nil)
	check(err)
	committed := int64(0)
	for _, block := range offsets.Blocks[topic] {
		if block.Offset > 0 {
			committed += block.Offset
		}
	}
	fmt.Printf("OK consumed=%d committed=%d\n", mine.seen, committed)
}
