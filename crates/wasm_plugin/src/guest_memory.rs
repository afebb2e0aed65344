//! Bytes in a module's memory. Every address and size comes from the module, so each access is checked.

use crate::abi_status::{AbiFault, AbiStatus};
use crate::host::Host;
use wasmtime::Caller;

/// Number of an address or a size.
pub(crate) fn unsigned(number: i32) -> usize {
    number.cast_unsigned() as usize
}

/// The whole memory, and the data of the instance.
pub(crate) fn parts<'a>(caller: &'a mut Caller<'_, Host>) -> Result<(&'a mut [u8], &'a mut Host), AbiFault> {
    let memory = caller.data().memory.ok_or(AbiStatus::InternalFailure)?;
    Ok(memory.data_and_store_mut(caller))
}

/// A piece of the memory.
pub(crate) fn piece(memory: &[u8], at: i32, bytes: i32) -> Result<&[u8], AbiFault> {
    let at = unsigned(at);
    let end = at.checked_add(unsigned(bytes)).ok_or(AbiStatus::InvalidMemoryAccess)?;
    Ok(memory.get(at..end).ok_or(AbiStatus::InvalidMemoryAccess)?)
}

/// A text in the memory.
pub(crate) fn text(memory: &[u8], at: i32, bytes: i32) -> Result<&str, AbiFault> {
    Ok(std::str::from_utf8(piece(memory, at, bytes)?).map_err(|_| AbiStatus::BadArgument)?)
}

/// Writes bytes at an address.
pub(crate) fn write(caller: &mut Caller<'_, Host>, at: i32, bytes: &[u8]) -> Result<(), AbiFault> {
    let (memory, _) = parts(caller)?;
    let at = unsigned(at);
    let end = at.checked_add(bytes.len()).ok_or(AbiStatus::InvalidMemoryAccess)?;
    memory.get_mut(at..end).ok_or(AbiStatus::InvalidMemoryAccess)?.copy_from_slice(bytes);
    Ok(())
}

/// Writes a number of 32 bits at an address.
pub(crate) fn write_u32(caller: &mut Caller<'_, Host>, at: i32, number: u32) -> Result<(), AbiFault> {
    write(caller, at, &number.to_le_bytes())
}

/// Returns bytes to the module: in memory that it reserves, with address and size where it wants them.
pub(crate) fn give(caller: &mut Caller<'_, Host>, bytes: &[u8], address_at: i32, size_at: i32) -> Result<(), AbiFault> {
    let size = u32::try_from(bytes.len()).map_err(|_| AbiStatus::InternalFailure)?;
    let mut address = 0;
    if size > 0 {
        let allocate = caller.data().allocate.clone().ok_or(AbiStatus::InternalFailure)?;
        address = allocate.call(&mut *caller, size.cast_signed())?;
        if address == 0 {
            return Err(AbiStatus::InternalFailure.into());
        }
        write(caller, address, bytes)?;
    }
    write_u32(caller, address_at, address.cast_unsigned())?;
    write_u32(caller, size_at, size)
}
