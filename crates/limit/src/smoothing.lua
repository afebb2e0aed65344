-- A rate that several gateways let rise and fall in steps; limit/smoothing.rs has the same for one gateway.
-- KEYS[1]: a hash. Field c: the present rate. n: when it may change next.
-- ARGV: lowest rate, maximum, step, delay_us, requests in the window, distance from the rate at which it rises
local lowest, max, step, delay = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local used, margin = tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local state = redis.call('HMGET', KEYS[1], 'c', 'n')
local current, next = tonumber(state[1] or 0), tonumber(state[2] or 0)
local before, change = current, 0
if current == 0 or next > now + delay then
  current, next = lowest, now + delay
elseif now >= next then
  if used >= current - margin then
    current, change = math.min(current + step, max), 1
  elseif used <= current - step - margin then
    current, change = math.max(current - step, lowest), -1
  end
  if current == before then change = 0 else next = now + delay end
end
current = math.min(current, max)
redis.call('HSET', KEYS[1], 'c', string.format('%.0f', current), 'n', string.format('%.0f', next))
redis.call('PEXPIRE', KEYS[1], math.ceil(delay * 2 / 1000))
return { current, change, math.max(next - now, 0) }
