-- The gateways that share this server: each says once in a while that it is there, and is told how many there are and its own number.
-- KEYS[1]: a sorted set. ARGV: this gateway, for how many milliseconds it counts as there
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local all, rank = redis.call('ZRANGE', KEYS[1], 0, -1), 0
for _, id in ipairs(all) do
  if id < ARGV[1] then rank = rank + 1 end
end
return { #all, rank }
