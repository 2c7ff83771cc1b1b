// @platformatic/kafka.
import {
  Admin,
  Consumer,
  MessagesStreamFallbackModes,
  MessagesStreamModes,
  Producer,
  clientSoftwareVersion,
  stringDeserializers,
  stringSerializers,
} from '@platformatic/kafka'
import lines from './lines.js'

const { emit, given, numbers, obeys, secured, sleep, unsecuredToken } = lines
const { bootstrap, name, tls, sasl } = JSON.parse(process.argv[2])
const connected = {
  clientId: name,
  bootstrapBrokers: bootstrap.split(','),
  ...(tls && { tls: secured(tls) }),
  ...(sasl && { sasl: authentication(sasl) }),
}
const AGAIN_MS = 500
let consumer = null
let stream = null
let transformer = null
// What the application holds, what has come and is not taken yet, and how far it has read.
let owned = []
let come = []
let taking = Promise.resolve()
const places = new Map()

function authentication({ mechanism, user, password }) {
  if (mechanism !== 'OAUTHBEARER') return { mechanism, username: user, password }
  return { mechanism, token: unsecuredToken(user) }
}

async function withClient(client, work) {
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

const toMessages = (topic, values) => values.map(value => ({ topic, key: value, value }))
const producer = settings =>
  new Producer({ ...connected, serializers: stringSerializers, autocreateTopics: true, idempotent: true, ...settings })

const obey = {
  async create_topic({ topic, partitions, replication }) {
    await withClient(new Admin(connected), admin => admin.createTopics({ topics: [topic], partitions, replicas: replication }))
    emit('topic_created', { topic })
  },

  async metadata() {
    const { brokers } = await withClient(new Admin(connected), admin => admin.metadata({ topics: [] }))
    emit('metadata', { brokers: [...brokers].map(([node, { host, port }]) => [node, `${host}:${port}`]) })
  },

  async produce({ topic, count, first, settings }) {
    const messages = toMessages(topic, numbers({ first, count }))
    await withClient(producer(settings), client => client.send({ messages }))
    emit('produced', { topic, count })
  },

  async transact({ topic, count, first, transactional_id, abort }) {
    await withClient(producer({ transactionalId: transactional_id }), async client => {
      const transaction = await client.beginTransaction()
      await transaction.send({ messages: toMessages(topic, numbers({ first, count })) })
      await (abort ? transaction.abort() : transaction.commit())
    })
    emit('transacted', { topic, count, aborted: abort })
  },

  async subscribe(options) {
    if (options.transform) transformer = producer({ transactionalId: options.transform.transactional_id })
    consumer = new Consumer({ ...connected, deserializers: stringDeserializers, ...consumerSettings(options) })
    report(options)
    await consume(options)
  },

  commit: () => commit([...places.values()]),

  async close() {
    if (stream) await stream.close()
    await taking
    letGo()
    if (consumer) await consumer.close(true)
    emit('closed')
    process.exit(0)
  },
}

function consumerSettings(options) {
  const said = {
    groupId: options.group,
    groupInstanceId: options.instance_id,
    sessionTimeout: options.session_timeout_ms,
    heartbeatInterval: options.heartbeat_interval_ms,
    rebalanceTimeout: options.max_poll_interval_ms,
  }
  const autocommit = options.transform ? false : ({ auto: 500, default: true }[options.commit] ?? false)
  return { ...given(said), maxWaitTime: 500, metadataMaxAge: 2000, autocommit, ...options.settings }
}

// A stream that an error has ended is begun anew, as an application would.
async function consume(options) {
  stream = await consumer.consume({
    topics: options.topics,
    mode: MessagesStreamModes.COMMITTED,
    fallbackMode: MessagesStreamFallbackModes.EARLIEST,
  })
  stream.on('error', async failure => {
    emit('error', { message: String(failure) })
    await sleep(AGAIN_MS)
    await consume(options)
  })
  stream.on('data', message => {
    if (come.push(message) === 1) setImmediate(() => (taking = taking.then(() => take(options))))
  })
}

// There are no callbacks, only these events: a rebalance takes everything, and a join gives everything anew.
function report({ revoke_ms }) {
  consumer.on('error', failure => emit('error', { message: String(failure) }))
  consumer.on('consumer:group:rebalance', () => letGo(revoke_ms))
  consumer.on('consumer:group:join', ({ assignments }) => {
    letGo()
    owned = assignments.flatMap(({ topic, partitions }) => partitions.map(partition => [topic, partition]))
    places.clear()
    emit('assigned', { partitions: owned })
  })
}

async function letGo(revoke_ms = 0) {
  const partitions = owned
  owned = []
  if (partitions.length === 0) return
  emit('revoking', { partitions })
  if (revoke_ms) await sleep(revoke_ms)
  emit('revoked', { partitions })
}

async function take(options) {
  const messages = come
  come = []
  if (options.transform) await transform(messages, options)
  for (const { topic, partition, offset } of messages) {
    places.set(`${topic}-${partition}`, { topic, partition, offset: offset + 1n, leaderEpoch: -1 })
  }
  emit('records', { records: messages.map(each => [each.topic, each.partition, Number(each.offset), each.value]) })
  if (options.commit === 'each' && !options.transform) await commit([...places.values()])
}

async function commit(offsets) {
  try {
    await consumer.commit({ offsets })
    emit('committed', { offsets: offsets.map(({ topic, partition, offset }) => [topic, partition, Number(offset)]) })
  } catch (failure) {
    emit('error', { message: String(failure) })
  }
}

async function transform(messages, { transform: { to } }) {
  const transaction = await transformer.beginTransaction()
  await transaction.send({ messages: messages.map(({ key, value }) => ({ topic: to, key, value })) })
  await transaction.addConsumer(consumer)
  const last = new Map(messages.map(message => [`${message.topic}-${message.partition}`, message]))
  for (const message of last.values()) await transaction.addOffset(message)
  await transaction.commit()
  emit('transacted', { count: messages.length })
}

obeys(obey, { library: '@platformatic/kafka', version: clientSoftwareVersion })
