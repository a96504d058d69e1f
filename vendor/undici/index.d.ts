import Undici from './types/index'
export default Undici
export * from './types/index'
