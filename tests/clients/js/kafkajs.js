// kafkajs.
'use strict'

const { Kafka, Partitioners, logLevel } = require('kafkajs')
const { emit, given, numbers, obeys, secured, sleep, unsecuredToken } = require('./lines')

function connected({ bootstrap, name, tls, sasl }) {
  return new Kafka({
    clientId: name,
    brokers: bootstrap.split(','),
    logLevel: logLevel.ERROR,
    logCreator: () => ({ log }) => process.stderr.write(JSON.stringify(log) + '\n'),
    ssl: tls && secured(tls),
    sasl: sasl && authentication(sasl),
  })
}

function authentication({ mechanism, user, password }) {
  if (mechanism !== 'OAUTHBEARER') return { mechanism: mechanism.toLowerCase(), username: user, password }
  return { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: unsecuredToken(user) }) }
}

const kafka = connected(JSON.parse(process.argv[2]))
let consumer = null
let transformer = null
// What the application holds, and how far it has read.
let owned = []
const places = new Map()

async function withClient(client, work) {
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.disconnect()
  }
}

const toMessages = values => values.map(value => ({ key: value, value }))
const producer = settings => kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, ...settings })

const obey = {
  async create_topic({ topic, partitions, replication }) {
    const wish = { topic, numPartitions: partitions, replicationFactor: replication }
    await withClient(kafka.admin(), admin => admin.createTopics({ topics: [wish] }))
    emit('topic_created', { topic })
  },

  async metadata() {
    const { brokers } = await withClient(kafka.admin(), admin => admin.describeCluster())
    emit('metadata', { brokers: brokers.map(({ nodeId, host, port }) => [nodeId, `${host}:${port}`]) })
  },

  async produce({ topic, count, first, settings }) {
    const messages = toMessages(numbers({ first, count }))
    await withClient(producer({ idempotent: true, ...settings }), client => client.send({ topic, messages }))
    emit('produced', { topic, count })
  },

  async transact({ topic, count, first, transactional_id, abort }) {
    await withClient(producer({ transactionalId: transactional_id, maxInFlightRequests: 1, idempotent: true }), async client => {
      const transaction = await client.transaction()
      await transaction.send({ topic, messages: toMessages(numbers({ first, count })) })
      await (abort ? transaction.abort() : transaction.commit())
    })
    emit('transacted', { topic, count, aborted: abort })
  },

  async subscribe(options) {
    if (options.transform) {
      const transactionalId = options.transform.transactional_id
      transformer = producer({ transactionalId, maxInFlightRequests: 1, idempotent: true })
      await transformer.connect()
    }
    consumer = kafka.consumer(consumerSettings(options))
    report(options)
    await consumer.connect()
    await consumer.subscribe({ topics: options.topics, fromBeginning: true })
    await consumer.run({
      autoCommit: ['auto', 'default'].includes(options.commit) && !options.transform,
      ...(options.commit === 'auto' && { autoCommitInterval: 500 }),
      eachBatch: batch => take(batch, options),
    })
  },

  commit: () => commit([...places.values()]),

  async close() {
    if (consumer) await consumer.disconnect()
    emit('closed')
    process.exit(0)
  },
}

function consumerSettings(options) {
  const said = {
    groupId: options.group,
    sessionTimeout: options.session_timeout_ms,
    heartbeatInterval: options.heartbeat_interval_ms,
    rebalanceTimeout: options.max_poll_interval_ms,
    metadataMaxAge: 2000,
    maxWaitTimeInMs: 500,
    readUncommitted: false,
  }
  return { ...given(said), ...options.settings }
}

const LETS_GO = new Set(['JoinGroup', 'LeaveGroup'])

// There are no callbacks, only these events: a rebalance takes everything, and a join gives everything anew.
function report({ revoke_ms }) {
  const { GROUP_JOIN, REBALANCING, CRASH, REQUEST, STOP } = consumer.events
  const revoked = async (at = {}) => {
    const partitions = owned
    owned = []
    if (partitions.length === 0) return
    emit('revoking', { partitions, ...at })
    if (revoke_ms) await sleep(revoke_ms)
    emit('revoked', { partitions, ...at })
  }
  consumer.on(REBALANCING, () => revoked())
  // It has let go of everything when it says that it leaves. That it has stopped it says when its connections are closed.
  // Or that it joins: who has seen a topic grow does, without a word of a rebalance.
  consumer.on(REQUEST, ({ payload }) => LETS_GO.has(payload.apiName) && revoked({ at_ms: payload.sentAt }))
  consumer.on(STOP, () => revoked())
  consumer.on(GROUP_JOIN, async ({ payload }) => {
    await revoked()
    const all = Object.entries(payload.memberAssignment)
    owned = all.flatMap(([topic, partitions]) => partitions.map(partition => [topic, partition]))
    places.clear()
    emit('assigned', { partitions: owned })
  })
  consumer.on(CRASH, ({ payload }) => emit('error', { message: String(payload.error), restart: payload.restart }))
}

async function take({ batch, heartbeat }, options) {
  const { topic, partition, messages } = batch
  const last = messages[messages.length - 1].offset
  const place = { topic, partition, offset: String(BigInt(last) + 1n) }
  if (options.transform) await transform(messages, place, options)
  places.set(`${topic}-${partition}`, place)
  emit('records', { records: messages.map(each => [topic, partition, Number(each.offset), each.value.toString()]) })
  if (options.commit === 'each' && !options.transform) await commit([place])
  await heartbeat()
}

async function commit(offsets) {
  try {
    await consumer.commitOffsets(offsets)
    emit('committed', { offsets: offsets.map(({ topic, partition, offset }) => [topic, partition, Number(offset)]) })
  } catch (failure) {
    emit('error', { message: String(failure) })
  }
}

async function transform(messages, place, options) {
  const transaction = await transformer.transaction()
  try {
    await transaction.send({ topic: options.transform.to, messages: messages.map(({ key, value }) => ({ key, value })) })
    const topics = [{ topic: place.topic, partitions: [place] }]
    await transaction.sendOffsets({ consumerGroupId: options.group, topics })
    await transaction.commit()
  } catch (failure) {
    await transaction.abort()
    throw failure
  }
  emit('transacted', { count: messages.length })
}

obeys(obey, { library: 'kafkajs', version: require('kafkajs/package.json').version })
